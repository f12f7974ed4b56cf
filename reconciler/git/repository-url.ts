import { sanitizeText } from '#shared/runtime/sanitize.ts';
import { GitError } from './errors.ts';

/**
 * The address of a repository as it is asked under: http or https, nothing behind the path, no slash at its end.
 *
 * @throws GitError `GIT_URL_UNUSABLE`, whose message never repeats a credential
 */
export function repositoryUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null)
    throw unusable(`"${sanitizeText(text)}" is not the address of a repository: write https://<host>/<path>`);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw unusable(`repositories are read over https or ssh, not over ${url.protocol}//`);
  }
  if (url.username !== '' || url.password !== '') {
    throw unusable(
      `the address of the repository on ${url.host} holds a credential, which would show up in logs and status: ` +
        'put user and password (or a token) into a Secret and mount it as the credentials directory',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw unusable(`the address of the repository on ${url.host} has something behind its path (? or #): leave it out`);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

function unusable(message: string): GitError {
  return new GitError('GIT_URL_UNUSABLE', message);
}
