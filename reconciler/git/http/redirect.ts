import { GitError } from '../errors.ts';
import { plainLine } from '../plain-text.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * Where the first request of a call is sent on to, as git itself has it (http.followRedirects=initial), but never to
 * another host, because the credential goes along, and never from https to http.
 *
 * @param from address that was asked, `…/info/refs?service=…`
 * @throws GitError `GIT_REDIRECT_REFUSED`
 */
export function followRedirect(from: URL, location: string | undefined): URL {
  const to = location === undefined ? null : URL.parse(location, from.href);
  if (to === null) throw refused(from, 'to nowhere');
  const shown = plainLine(`${to.protocol}//${to.host}${to.pathname}`, 200);
  if (to.protocol !== 'https:' && to.protocol !== from.protocol) throw refused(from, `to ${shown}, without encryption`);
  if (to.hostname !== from.hostname || !samePort(from, to)) throw refused(from, `to another host, ${to.host}`);
  if (to.username !== '' || to.password !== '') throw refused(from, 'to an address with a credential in it');
  if (!to.pathname.endsWith('/info/refs') || to.search !== from.search) {
    throw refused(from, `to ${shown}, which is not a repository (a page to sign in, perhaps)`);
  }
  return to;
}

/** Equal, or both the standard one of their scheme. */
const samePort = (from: URL, to: URL): boolean => from.port === to.port;

function refused(from: URL, where: string): GitError {
  return new GitError(
    'GIT_REDIRECT_REFUSED',
    `${from.host} redirects ${where}: check the address of the repository and its credential`,
  );
}
