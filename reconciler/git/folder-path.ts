import { GitError } from './errors.ts';
import { hasInvisible, escapeInvisible } from './plain-text.ts';

/** Longer ones are not read: paths end up in messages, and a folder that deep is a mistake. */
const MOST_BYTES = 250;

/**
 * What keeps a text from being the path of a folder inside a repository, for people; null where nothing does.
 *
 * @param path `infra/kubelet`; empty for the root
 */
export function folderPathProblem(path: string): string | null {
  if (path === '') return null;
  const parts = path.split('/');
  if (path.startsWith('/')) return 'begins with a slash: write it from the root of the repository, like infra/kubelet';
  if (path.endsWith('/')) return 'ends with a slash: leave that out';
  if (path.includes('\\')) return 'has a backslash: parts are separated by /';
  if (parts.includes('')) return 'has an empty part: write one slash between two parts';
  if (parts.includes('..')) return 'leads out of a folder with "..": name the folder itself';
  if (parts.includes('.')) return 'has a part ".": leave it out';
  if (parts.some((part) => /^\.git$/i.test(part))) return 'has a part ".git", which no commit holds';
  if (hasInvisible(path)) return 'has characters that cannot be seen';
  return Buffer.byteLength(path) > MOST_BYTES ? `is longer than ${MOST_BYTES} bytes` : null;
}

/** The path as it was. @throws GitError `GIT_PATH_INVALID` */
export function folderPath(path: string): string {
  const wrong = folderPathProblem(path);
  if (wrong === null) return path;
  throw new GitError('GIT_PATH_INVALID', `the folder "${escapeInvisible(path)}" ${wrong}`);
}
