import { sshAddress } from '../../git/ssh/address.ts';
import type { ForgeKind, ForgeApi } from './forges.ts';

interface ForgeApiSettings {
  readonly gitUrl: string;
  /** Instead of what the address of the repository tells. */
  readonly apiUrl?: string | undefined;
  readonly repository?: string | undefined;
}

/**
 * Where the forge of a repository has its API, as far as the repository's address says: forges below a path of their own have
 * to be named. null if the address does not say.
 */
export function forgeApiOf(kind: ForgeKind, { gitUrl, apiUrl, repository }: ForgeApiSettings): ForgeApi | null {
  const found = locate(gitUrl);
  const name = repository ?? found?.repository;
  const api = apiUrl ?? (found === null ? undefined : apiOf(kind, found));
  if (name === undefined || api === undefined) return null;
  if (!/^[\w.-]+(?:\/[\w.-]+)+$/.test(name) || !/^https?:\/\/[^\s?#@]+$/.test(api)) return null;
  return { api: api.replace(/\/+$/, ''), repository: name };
}

interface Located {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly repository: string;
}

function locate(gitUrl: string): Located | null {
  try {
    const ssh = sshAddress(gitUrl);
    const url = ssh === null ? URL.parse(gitUrl) : null;
    const [host, path] = ssh === null ? [url?.host, url?.pathname] : [ssh.host, ssh.path];
    if (host === undefined || path === undefined) return null;
    // Over ssh the port is that of ssh, and says nothing about the API's.
    // A server that is read over http at a port of its own speaks nothing else there.
    const scheme = url?.protocol === 'http:' ? 'http' : 'https';
    return { scheme, host, repository: path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '') };
  } catch {
    return null;
  }
}

function apiOf(kind: ForgeKind, { scheme, host }: Located): string {
  switch (kind) {
    case 'github':
      return host === 'github.com' || host === 'ssh.github.com'
        ? 'https://api.github.com'
        : `${scheme}://${host}/api/v3`;
    case 'gitlab':
      return `${scheme}://${host === 'altssh.gitlab.com' ? 'gitlab.com' : host}/api/v4`;
    case 'gitea':
      return `${scheme}://${host}/api/v1`;
  }
}
