import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** The proxies of a site, in the words of the environment variables that name them everywhere. */
export interface ProxySettings {
  /** `http://[user:password@]host:port`, https or socks5, for addresses of http; undefined for none. */
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
 * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` as Go 1.26 reads them (net/http, ProxyFromEnvironment): or in lower case, and an address
 * without a scheme is one of http.
 *
 * @param read    a variable of the environment; undefined or empty where it is not set
 * @param mistake hears of an address that is none; an address may hold a password, which no message repeats
 */
export function readProxySettings(
  read: (name: string) => string | undefined,
  mistake: (message: string) => void,
): ProxySettings {
  const either = (name: string): string => read(name) || read(name.toLowerCase()) || '';
  const address = (name: string): string | undefined => {
    const text = either(name);
    if (text === '') return undefined;
    const usable = proxyUrl(text);
    if (usable === undefined) mistake(`${name} is not the address of a proxy: write http://HOST:PORT`);
    return usable?.href;
  };
  return { http: address('HTTP_PROXY'), https: address('HTTPS_PROXY'), except: either('NO_PROXY') };
}

/** A proxy's address; undefined where it is none that can be used. */
export function proxyUrl(text: string): URL | undefined {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) || text.startsWith('/') ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  return url !== undefined && /^(?:https?|socks5h?):$/.test(url.protocol) && url.hostname !== '' ? url : undefined;
}

/**
 * Which proxies stand before a server, as Go has it: `NO_PROXY` holds `*` for everything, a name for itself and all below, a name
 * that begins with a dot for what is below alone, an address or a network (`10.0.0.0/8`); names and addresses with a port or
 * without. What is on this machine is never behind a proxy.
 */
export function proxiesFor({ http, https, except }: ProxySettings, server: URL): Proxies {
  const host = server.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const port = server.port === '' ? (server.protocol === 'http:' ? '80' : '443') : server.port;
  if (host === 'localhost' || holds('127.0.0.0', 8, host) || host === '::1') return NO_PROXY;
  const entries = except.split(',').map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => names(entry, host, port)) ? NO_PROXY : { http, https };
}

/** The one that stands before this server; undefined for none. */
export function proxyFor(settings: ProxySettings, server: URL): string | undefined {
  const { http, https } = proxiesFor(settings, server);
  return server.protocol === 'http:' ? http : https;
}

function names(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const network = /^(.+)\/(\d{1,3})$/.exec(entry);
  if (network !== null) return holds(network[1] ?? '', Number(network[2]), host);
  const [, name = entry, only = ''] = /^(\[[^\]]+\]|[^:]+):([^:]*)$/.exec(entry) ?? [];
  if (only !== '' && only !== port) return false;
  const address = name === entry ? name : name.replace(/^\[(.*)\]$/, '$1');
  if (isIP(address) !== 0) return holds(address, isIP(address) === 4 ? 32 : 128, host);
  const [, dot, domain = ''] = /^(?:\*(?=\.))?(\.?)([^]*)/.exec(name) ?? [];
  const wanted = domainToASCII(domain);
  return isIP(host) === 0 && wanted !== '' && (host.endsWith(`.${wanted}`) || (dot === '' && host === wanted));
}

function holds(network: string, bits: number, host: string): boolean {
  const version = isIP(network);
  if (version === 0 || isIP(host) === 0 || bits > (version === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(network, bits, version === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');
}

/** A proxy for messages: its host and port, and never the password that stands before them. */
export const describeProxy = (proxy: string | undefined): string | undefined =>
  proxy === undefined ? undefined : (proxyUrl(proxy)?.host ?? 'the proxy');
