import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { reasonOf } from '#shared/runtime/errors.ts';
import { matchesWildcard } from './wildcard.ts';

/** A file that may hold what a kubelet runs. */
export interface ConfigFile {
  /** `-` for standard input. */
  readonly path: string;
  /** The node named on the command line; undefined if the file's own name has to do. */
  readonly node: string | undefined;
}

/** Something that was named and cannot be used: where, and why. */
export interface NotUsed {
  readonly what: string;
  readonly why: string;
}

export interface ConfigFiles {
  readonly files: readonly ConfigFile[];
  readonly leftOut: readonly NotUsed[];
}

const IS_CONFIG = /\.(?:json|ya?ml)$/i;

/** The node that a file is named after: `worker-1` of `configs/worker-1.json`. */
export const nodeOfFile = (path: string): string => basename(path).replace(IS_CONFIG, '');

/**
 * Finds the files that words name: `NODE=FILE`, a file, a directory with files named after nodes, a pattern with `*` and `?` (for
 * where no shell expands it), `-` for standard input.
 */
export async function configFiles(words: readonly string[]): Promise<ConfigFiles> {
  const found = await Promise.all(words.map(filesOf));
  return { files: found.flatMap(({ files }) => files), leftOut: found.flatMap(({ leftOut }) => leftOut) };
}

async function filesOf(word: string): Promise<ConfigFiles> {
  const [, node, named] = /^([^=/]+)=(.+)$/s.exec(word) ?? [];
  if (node !== undefined && named !== undefined) return { files: [{ path: named, node }], leftOut: [] };
  if (word === '-') return { files: [{ path: '-', node: undefined }], leftOut: [] };
  try {
    const is = await stat(word);
    return is.isDirectory() ? await filesIn(word) : oneFile(word);
  } catch (error) {
    if (/[*?]/.test(word)) return matching(word);
    return { files: [], leftOut: [{ what: word, why: `cannot be read: ${reasonOf(error)}` }] };
  }
}

const oneFile = (path: string): ConfigFiles => ({ files: [{ path, node: undefined }], leftOut: [] });

async function filesIn(directory: string): Promise<ConfigFiles> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries
    .filter((entry) => !entry.isDirectory() && IS_CONFIG.test(entry.name) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
  if (names.length === 0) return { files: [], leftOut: [{ what: directory, why: 'has no .json, .yaml or .yml file' }] };
  const paths = names.map((name) => join(directory, name));
  const stats = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  // Nobody named these: a pipe without a writer would be waited for. A link to nowhere is said when it is read.
  const isOther = paths.map((_, index) => stats[index]?.isFile() === false);
  return {
    files: paths.filter((_, index) => isOther[index] !== true).map((path) => ({ path, node: undefined })),
    leftOut: paths.filter((_, index) => isOther[index] === true).map((what) => ({ what, why: 'is not a file' })),
  };
}

/** Files whose path has the pattern's parts, one after the other. A part with nothing to match is not looked for, only followed. */
async function matching(pattern: string): Promise<ConfigFiles> {
  const parts = pattern.split('/');
  let places = [''];
  for (const [index, part] of parts.entries()) {
    const lists = await Promise.all(places.map((place) => step(place, part, index === 0)));
    places = lists.flat();
  }
  const stats = await Promise.all(places.map((place) => stat(place).catch(() => undefined)));
  const files = places.filter((_, index) => stats[index]?.isFile() === true);
  if (files.length === 0) return { files: [], leftOut: [{ what: pattern, why: 'matches no file' }] };
  return { files: files.map((path) => ({ path, node: undefined })), leftOut: [] };
}

async function step(place: string, part: string, isFirst: boolean): Promise<readonly string[]> {
  const beside = (name: string): string => (isFirst ? name : `${place}/${name}`);
  if (!/[*?]/.test(part)) return [beside(part)];
  const names = await readdir(isFirst ? '.' : place === '' ? '/' : place).catch(() => []);
  return names
    .filter((name) => matchesWildcard(name, part) && (!name.startsWith('.') || part.startsWith('.')))
    .sort()
    .map(beside);
}
