import { BlockList, isIP } from 'node:net';

/** The proxies of a site, in the words of the environment variables that name them everywhere. */
export interface ProxySettings {
  /** `http://[user:password@]host:port`, for addresses of http; undefined for none. */
  readonly http: string | undefined;
  /** The same, for addresses of https. */
  readonly https: string | undefined;
  /** What is reached without one, separated by commas. */
  readonly except: string;
}

/** The proxies on the way to one server, by the scheme that it is asked with. */
export interface Proxies {
  readonly http: string | undefined;
  readonly https: string | undefined;
}

export const NO_PROXY: Proxies = { http: undefined, https: undefined };

/**
 * Which proxies stand before a server.
 *
 * What goes without is named as curl, git and Go read it: `*` for everything, a name for itself and what is below it, with or
 * without a dot before it, an address or a network (`10.0.0.0/8`), each with a port or without. Node's own reading would take
 * `example.com` for that one host and no network at all. What is on this machine is never behind a proxy, as Go has it.
 */
export function proxiesFor({ http, https, except }: ProxySettings, server: URL): Proxies {
  const host = bare(server.hostname).toLowerCase();
  const port = server.port === '' ? (server.protocol === 'http:' ? '80' : '443') : server.port;
  if (host === 'localhost' || holds('127.0.0.0', 8, host) || host === '::1') return NO_PROXY;
  const entries = except
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map((entry) => entry.toLowerCase());
  return entries.some((entry) => names(entry, host, port)) ? NO_PROXY : { http, https };
}

function names(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const network = /^(.+)\/(\d{1,3})$/.exec(entry);
  if (network !== null) return holds(network[1] ?? '', Number(network[2]), host);
  const [, name = entry, only = port] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
  const wanted = bare(name).replace(/^\*?\./, '');
  return only === port && wanted !== '' && (host === wanted || (isIP(host) === 0 && host.endsWith(`.${wanted}`)));
}

function holds(network: string, bits: number, host: string): boolean {
  const version = isIP(network);
  if (version === 0 || isIP(host) !== version || bits > (version === 4 ? 32 : 128)) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return list.check(host, family);
}

/** An address of version 6 without its brackets. */
const bare = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/** A proxy for messages: its host and port, and never the password that stands before them. */
export const describeProxy = (proxy: string | undefined): string | undefined =>
  proxy === undefined ? undefined : (URL.parse(proxy)?.host ?? 'the proxy');
