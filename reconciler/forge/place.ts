import { sshAddress } from '../git/ssh/address.ts';
import type { ForgeKind, ForgePlace } from './forges.ts';

export interface PlaceSettings {
  readonly gitUrl: string;
  /** Instead of what the address of the repository tells. */
  readonly apiUrl?: string | undefined;
  readonly repository?: string | undefined;
}

/**
 * Where the forge of a repository has its API, as far as the repository's address tells: forges below a path of their own have
 * to be named. null where nothing can be told.
 */
export function forgePlace(kind: ForgeKind, { gitUrl, apiUrl, repository }: PlaceSettings): ForgePlace | null {
  const found = locate(gitUrl);
  const name = repository ?? found?.repository;
  const api = apiUrl ?? (found === null ? undefined : apiOf(kind, found.host));
  if (name === undefined || api === undefined) return null;
  if (!/^[\w.-]+(?:\/[\w.-]+)+$/.test(name) || !/^https?:\/\/[^\s?#@]+$/.test(api)) return null;
  return { api: api.replace(/\/+$/, ''), repository: name };
}

function locate(gitUrl: string): { readonly host: string; readonly repository: string } | null {
  try {
    const ssh = sshAddress(gitUrl);
    const url = ssh === null ? URL.parse(gitUrl) : null;
    const [host, path] = ssh === null ? [url?.host, url?.pathname] : [ssh.host, ssh.path];
    if (host === undefined || path === undefined) return null;
    // Over ssh the port is that of ssh, and says nothing about the API's.
    return { host, repository: path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '') };
  } catch {
    return null;
  }
}

function apiOf(kind: ForgeKind, host: string): string {
  switch (kind) {
    case 'github':
      return host === 'github.com' || host === 'ssh.github.com' ? 'https://api.github.com' : `https://${host}/api/v3`;
    case 'gitlab':
      return `https://${host === 'altssh.gitlab.com' ? 'gitlab.com' : host}/api/v4`;
    case 'gitea':
      return `https://${host}/api/v1`;
  }
}
