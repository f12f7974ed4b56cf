import { percentDecoded } from '#shared/runtime/lenient.ts';

/** What Go's `url.Parse` reads of a URL: the scheme in lower case, empty where there is none, and the path with its escapes decoded. */
export interface GoUrl {
  readonly scheme: string;
  /** Empty where nothing with a slash in front stands behind scheme and authority. */
  readonly path: string;
}

/**
 * The scheme of a URL as Go's `url.Parse` reads it, in lower case.
 *
 * @returns empty where there is none, undefined where Go refuses the text
 */
export const goUrlScheme = (text: string): string | undefined => goUrl(text)?.scheme;

/** @returns undefined where Go refuses the text */
export function goUrl(text: string): GoUrl | undefined {
  const [beforeFragment, fragment] = cutAt(text, text.indexOf('#'));
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001F\u007F]/.test(beforeFragment) || !isEscaped(fragment) || beforeFragment.startsWith(':'))
    return undefined;
  const [, written = '', rest = beforeFragment] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(.*)$/s.exec(beforeFragment) ?? [];
  const scheme = written.toLowerCase();
  const [path = ''] = rest.split('?', 1);
  // Behind a scheme, what does not begin with a slash is taken as it is.
  if (scheme !== '' && !path.startsWith('/')) return { scheme, path: '' };
  if (!path.startsWith('/') && path.split('/', 1)[0]?.includes(':') === true) return undefined;
  const hasAuthority = path.startsWith('//') && (scheme !== '' || !path.startsWith('///'));
  const slash = path.indexOf('/', 2);
  const [authority, below] = !hasAuthority
    ? ['', path]
    : slash < 0
      ? [path.slice(2), '']
      : [path.slice(2, slash), path.slice(slash)];
  return isAuthority(authority) && isEscaped(below) ? { scheme, path: percentDecoded(below) } : undefined;
}

/** What stands before a place and what stands behind it; everything and nothing for a place below 0. */
const cutAt = (text: string, at: number): readonly [string, string] =>
  at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];

const isEscaped = (text: string): boolean => !/%(?![0-9A-Fa-f]{2})/.test(text);

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(at, 0));
  const host = authority.slice(at + 1);
  const isUser = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && isEscaped(user);
  if (host.startsWith('[') && !host.includes(']')) return false;
  const portAt = host.startsWith('[') ? host.lastIndexOf(']') + 1 : host.lastIndexOf(':');
  const [name, port] = portAt < 0 ? [host, ''] : [host.slice(0, portAt), host.slice(portAt)];
  return isUser && HOST.test(name) && /^(?::\d*)?$/.test(port);
}

/** Escapes in a host are for characters beyond ASCII only. */
const HOST = /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\uFFFF]|%[89A-Fa-f][0-9A-Fa-f])*$/;
