import { type Dirent, existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { claimsConfig } from '#shared/contract/kubelet-config/decode/claims-config.ts';
import { MAX_FILE_BYTES } from '#shared/contract/kubelet-config/decode/source-text.ts';
import { inFolder } from '#reconciler/policy/in-folder.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { type ProgressLine, silent } from '../progress-line.ts';
import { fileOnDistribution } from './validate-distribution.ts';
import { DEFAULT_VERSIONS, validateConfigFile } from './validate-file.ts';
import { validateRepo, type RepoQuestion } from './validate-repo.ts';
import { readDirectory } from '../revision/read-directory.ts';
import type { ValidatedFile, Validation } from './validation.ts';

/**
 * Judges what a path leads to: a config repository, a single file, or all files with a KubeletConfiguration in a directory.
 *
 * @throws GitopsError `NOTHING_TO_VALIDATE`, `NO_FOLDER`
 */
export async function validatePath(
  path: string,
  question: RepoQuestion,
  progress: ProgressLine = silent,
): Promise<Validation> {
  const named = await stat(path).catch((error: unknown) => {
    throw nothing(path, reasonOf(error));
  });
  if (!named.isDirectory()) return ofFiles([await judgeFile(path, question)]);
  const { folder = '' } = question;
  const tree = await readDirectory(path, { folder, progress });
  const start = inFolder(folder, '').length;
  const names = [...tree.files.keys(), ...tree.findings.map(({ file = '' }) => file.slice(start))];
  if (names.some((name) => /^(?:pools|base|clusters)(?:\/|$)/.test(name))) {
    const judged = validateRepo(tree, question, progress);
    if (judged.files.some(({ findings }) => findings.length > 0) || names.some((name) => name.startsWith('pools/')))
      return judged;
    throw nothing(path, 'it has no pools/<name>/pool.yaml, and a commit without pools does not come into force');
  }
  const entries = await readdir(join(path, folder), { recursive: true, withFileTypes: true }).catch(
    (error: unknown) => {
      throw nothing(path, reasonOf(error));
    },
  );
  const inside = new Set(
    entries
      .filter(({ name }) => name === 'pool.yaml')
      .flatMap(({ parentPath }) => /^(.+)\/pools\/[^/]+$/.exec(parentPath)?.[1] ?? []),
  );
  // Of several, nobody knows which is meant, or whose they are.
  const [only] = inside;
  if (inside.size > 1) throw nothing(path, `it is not a config repository, but holds ${inside.size} of them: name one`);
  if (only !== undefined) throw nothing(path, `it is not a config repository; did you mean ${only}?`);
  const files = await configFilesIn(entries);
  if (files.length === 0) {
    const looked = 'neither a config repository (pools/, base/ or clusters/) nor a file with a KubeletConfiguration';
    throw nothing(path, `it holds ${looked}`);
  }
  let judged = 0;
  const found = await Promise.all(
    files.map(async (file) => {
      const result = isLost(file) ? lostFile(file) : await judgeFile(file, question);
      progress.say(`judged ${(judged += 1)} of ${files.length} files`);
      return result;
    }),
  );
  return ofFiles(found);
}

/** Judges one file that comes through a pipe. @throws GitopsError `NOTHING_TO_VALIDATE` where nothing comes */
export async function validateStream(
  stream: AsyncIterable<Uint8Array> | undefined,
  question: FileQuestion,
): Promise<Validation> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream ?? []) {
    parts.push(part);
    bytes += part.length;
    // One more byte than a file may have is enough to say that it is too long.
    if (bytes > MAX_FILE_BYTES) break;
  }
  if (bytes === 0) throw nothing('standard input', 'it is empty');
  return ofFiles([judgeBytes('-', Buffer.concat(parts), question)]);
}

type FileQuestion = Pick<RepoQuestion, 'versions' | 'distribution'>;

async function judgeFile(path: string, question: FileQuestion): Promise<ValidatedFile> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw nothing(path, reasonOf(error));
  });
  return judgeBytes(path, bytes, question);
}

function judgeBytes(path: string, bytes: Uint8Array, { versions, distribution }: FileQuestion): ValidatedFile {
  const judged = validateConfigFile(path, bytes, versions);
  const minors = versions.length === 0 ? DEFAULT_VERSIONS : versions;
  return distribution === undefined ? judged : fileOnDistribution(judged, bytes, distribution, minors);
}

/** Files that say of themselves what they are, and those that cannot be opened by their names; others in the directory are ignored here. */
async function configFilesIn(entries: readonly Dirent[]): Promise<readonly string[]> {
  const named = entries
    .filter((entry) => entry.isFile() && /\.(?:ya?ml|json|conf)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !/(?:^|\/)(?:node_modules|\.git)\//.test(path))
    .sort();
  const claiming = await Promise.all(named.map(async (path) => isLost(path) || claimsConfig(await readFile(path))));
  return named.filter((_, index) => claiming[index]);
}

/** Bytes that are no UTF-8 come as U+FFFD, by which nothing is found again. */
const isLost = (path: string): boolean => path.includes('\uFFFD') && !existsSync(path);

function lostFile(file: string): ValidatedFile {
  const message = 'the name is not UTF-8: rename it';
  return { path: file, verdicts: {}, findings: [{ code: 'hostile-name', severity: 'error', message, file }] };
}

const ofFiles = (files: readonly ValidatedFile[]): Validation => ({
  files,
  about: `${files.length} ${files.length === 1 ? 'file' : 'files'}`,
});

const nothing = (path: string, why: string): GitopsError =>
  new GitopsError('NOTHING_TO_VALIDATE', `cannot validate ${path}: ${why}`);
