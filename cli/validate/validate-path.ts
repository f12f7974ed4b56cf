import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_FILE_BYTES } from '#shared/contract/kubelet-config/decode/source-text.ts';
import { inFolder } from '#reconciler/policy/in-folder.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { type ProgressLine, silent } from '../progress-line.ts';
import { fileOnDistribution } from './validate-distribution.ts';
import { DEFAULT_VERSIONS, validateConfigFile } from './validate-file.ts';
import { validateRepo, type RepoQuestion } from './validate-repo.ts';
import { type DirectoryTree, readDirectory } from './read-directory.ts';
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
  if (names.some((name) => /^(?:pools|base|clusters)\//.test(name))) {
    const judged = validateRepo(tree, question, progress);
    if (judged.files.some(({ findings }) => findings.length > 0) || names.some((name) => name.startsWith('pools/')))
      return judged;
    throw nothing(path, 'it has no pools/<name>/pool.yaml, and a commit without pools does not come into force');
  }
  const [, inside] = names.map((name) => /^(.+)\/pools\/[^/]+\/pool\.yaml$/.exec(name)).find(Boolean) ?? [];
  if (inside !== undefined) {
    throw nothing(path, `it is not a config repository; did you mean ${join(path, folder, inside)}?`);
  }
  const lost = lostFiles(tree, path);
  const files = await configFilesIn(join(path, folder), new Set(lost.map((file) => file.path)));
  if (files.length + lost.length === 0) {
    const looked = 'neither a config repository (pools/, base/ or clusters/) nor a file with a KubeletConfiguration';
    throw nothing(path, `it holds ${looked}`);
  }
  let judged = 0;
  const found = await Promise.all(
    files.map(async (file) => {
      const result = await judgeFile(file, question);
      progress.say(`judged ${(judged += 1)} of ${files.length} files`);
      return result;
    }),
  );
  return ofFiles([...found, ...lost]);
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

/** Files that cannot be opened by their names. Other odd names matter in a repository alone. */
function lostFiles(tree: DirectoryTree, directory: string): readonly ValidatedFile[] {
  return tree.findings
    .filter(({ code, file = '' }) => code === 'hostile-name' && file.includes('\uFFFD'))
    .map((finding) => {
      const path = join(directory, finding.file ?? '');
      return { path, verdicts: {}, findings: [{ ...finding, file: path }] };
    });
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

/** Schemas and definitions speak of the kind as well; only a file of this kind says that it is one. */
const CLAIM = /^["']?kind["']?\s*:\s*["']?(?:Computed)?KubeletConfiguration(?!\w)/;
const claims = (text: string): boolean => text.split(/[\n\r{,]/).some((part) => CLAIM.test(part.trimStart()));

/** Files that say of themselves what they are; others in the directory are ignored here. */
async function configFilesIn(directory: string, lost: ReadonlySet<string>): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const named = entries
    .filter((entry) => entry.isFile() && /\.(?:ya?ml|json|conf)$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !lost.has(path) && !/(?:^|\/)(?:node_modules|\.git)\//.test(path))
    .sort();
  const claiming = await Promise.all(
    named.map(async (path) => {
      const text = (await readFile(path)).subarray(0, MAX_FILE_BYTES).toString('utf8');
      return claims(text);
    }),
  );
  return named.filter((_, index) => claiming[index]);
}

const ofFiles = (files: readonly ValidatedFile[]): Validation => ({
  files,
  about: `${files.length} ${files.length === 1 ? 'file' : 'files'}`,
});

const nothing = (path: string, why: string): GitopsError =>
  new GitopsError('NOTHING_TO_VALIDATE', `cannot validate ${path}: ${why}`);
