import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';
import { isMap, mapOf } from '#shared/runtime/maps.ts';

/** A kubeconfig, or several as one. Paths in it are absolute. */
export interface Kubeconfig {
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
}

export type Entry = Readonly<Record<string, unknown>>;

/**
 * Reads kubeconfigs as kubectl does: of several, the first that defines a name (or the current context) wins, and one
 * that is missing is passed over as long as there is another.
 *
 * @throws GitopsError KUBECONFIG_MISSING or KUBECONFIG_INVALID
 */
export async function readKubeconfigs(paths: readonly string[]): Promise<Kubeconfig> {
  const read = await Promise.all(paths.map(readOne));
  const found = read.filter((one) => one !== undefined);
  if (found.length === 0)
    throw kubeconfigError('KUBECONFIG_MISSING', `there is no kubeconfig at ${paths.join(' or ')}`);
  return mergeKubeconfigs(found);
}

export function mergeKubeconfigs(all: readonly Kubeconfig[]): Kubeconfig {
  const firstWins = (part: 'clusters' | 'users' | 'contexts'): ReadonlyMap<string, Entry> =>
    new Map(all.toReversed().flatMap((one) => [...one[part]]));
  return {
    currentContext: all.find((one) => one.currentContext !== '')?.currentContext ?? '',
    clusters: firstWins('clusters'),
    users: firstWins('users'),
    contexts: firstWins('contexts'),
  };
}

async function readOne(path: string): Promise<Kubeconfig | undefined> {
  try {
    return parseKubeconfig(await readFile(path, 'utf8'), path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (error instanceof GitopsError) throw error;
    throw kubeconfigError('KUBECONFIG_INVALID', `cannot read the kubeconfig ${path}`, error);
  }
}

/** @param path where the text comes from: relative paths in it start there */
export function parseKubeconfig(text: string, path: string): Kubeconfig {
  const document = parseYaml(text, path);
  if (!isMap(document)) throw kubeconfigError('KUBECONFIG_INVALID', `${path} is not a kubeconfig: it holds no mapping`);
  const list = (part: string, kind: string): ReadonlyMap<string, Entry> =>
    new Map(entriesOf(document[part], kind).map(([name, entry]) => [name, absolute(entry, dirname(path))]));
  const current = document['current-context'];
  return {
    currentContext: typeof current === 'string' ? current : '',
    clusters: list('clusters', 'cluster'),
    users: list('users', 'user'),
    contexts: list('contexts', 'context'),
  };
}

/** The parser's message would quote the line, and a line may hold a token. */
function parseYaml(text: string, path: string): unknown {
  try {
    return parse(text) as unknown;
  } catch (error) {
    const at = (error as { readonly linePos?: readonly [{ readonly line: number }] }).linePos?.[0].line;
    const where = at === undefined ? '' : `, line ${at}`;
    throw kubeconfigError(
      'KUBECONFIG_INVALID',
      `${path} is not a kubeconfig: not YAML (${codeOf(error) ?? 'unreadable'}${where})`,
    );
  }
}

function entriesOf(list: unknown, kind: string): readonly (readonly [string, Entry])[] {
  return (Array.isArray(list) ? list : []).flatMap((each: unknown) => {
    if (!isMap(each) || typeof each['name'] !== 'string') return [];
    const value = each[kind];
    return [[each['name'], mapOf(value)] as const];
  });
}

const PATHS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

function absolute(entry: Entry, directory: string): Entry {
  const paths = PATHS.flatMap((key) => {
    const value = entry[key];
    return typeof value === 'string' && value !== '' && !isAbsolute(value) ? [[key, join(directory, value)]] : [];
  });
  return { ...entry, ...Object.fromEntries(paths) };
}

export function kubeconfigError(
  code: 'KUBECONFIG_MISSING' | 'KUBECONFIG_INVALID',
  message: string,
  cause?: unknown,
): GitopsError {
  return new GitopsError(code, message, { cause });
}
