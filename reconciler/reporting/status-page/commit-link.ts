import type { ForgeKind } from '../forge/forges.ts';
import { sshAddress } from '../../git/ssh/address.ts';

/**
 * A forge's page of a commit, or null for an unknown kind of forge. Holds a host and a path, never a
 * credential, and is https unless the repository itself is read over http.
 *
 * @param gitUrl the repository's address, over https, http or ssh
 * @param kind   what the operator says of the forge; otherwise its host's name decides, if it can
 */
export function commitLink(gitUrl: string, oid: string, kind?: ForgeKind): string | null {
  if (!/^[0-9a-f]{40}$/.test(oid)) return null;
  const place = placeOf(gitUrl);
  if (place === null) return null;
  const before = PAGES[kind ?? guessed(place.hostname)];
  return before === '' ? null : `${place.origin}${place.path}${before}${oid}`;
}

type Guess = ForgeKind | 'bitbucket' | 'unknown';

/** What stands between a repository's page and the commit's name, as each forge's own pages have it. */
const PAGES: Readonly<Record<Guess, string>> = {
  github: '/commit/',
  gitlab: '/-/commit/',
  gitea: '/commit/',
  bitbucket: '/commits/',
  unknown: '',
};

function guessed(host: string): Guess {
  const named = /(?:^|\.)(github|gitlab|gitea|forgejo|codeberg|bitbucket)\./.exec(host)?.[1];
  if (named === 'forgejo' || named === 'codeberg') return 'gitea';
  return (named as Guess | undefined) ?? 'unknown';
}

interface Place {
  /** Scheme, host and port of the pages. */
  readonly origin: string;
  readonly hostname: string;
  readonly path: string;
}

function placeOf(gitUrl: string): Place | null {
  try {
    const ssh = sshAddress(gitUrl);
    // Over ssh the port is that of ssh, and says nothing about the pages'.
    const url = new URL(ssh === null ? gitUrl : `https://${ssh.host}/${ssh.path.replace(/^\/+/, '')}`);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
    const path = url.pathname.replace(/\/+$/, '').replace(/\.git$/, '');
    const hostname = url.hostname.replace(/^(?:ssh|altssh)\.(?=github\.com$|gitlab\.com$)/, '');
    return path === ''
      ? null
      : { origin: `${url.protocol}//${url.host.replace(url.hostname, hostname)}`, hostname, path };
  } catch {
    return null;
  }
}
