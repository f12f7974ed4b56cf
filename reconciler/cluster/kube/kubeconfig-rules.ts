import type { Credential } from '#shared/kube/kube-credentials.ts';
import { proxyUrl } from '#shared/http/proxy.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { mapOf } from '#shared/runtime/maps.ts';
import { sanitizeText } from '#shared/runtime/sanitize.ts';
import { type Entry, has, textOf } from './kubeconfig-fields.ts';

/** The versions of ExecCredential that kubectl speaks; only the first has a default for `interactiveMode`. */
const EXEC_BETA = 'client.authentication.k8s.io/v1beta1';
const EXEC_VERSIONS: readonly unknown[] = [EXEC_BETA, 'client.authentication.k8s.io/v1'];

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && Object.keys(value).length > 0;

/**
 * Why a cluster cannot be used, in the words that follow its name. What kubectl refuses is refused
 * (client-go: tools/clientcmd/validation.go, transport/transport.go); so is what it would ask without a credential, or with one that
 * stands in an address.
 */
export function whyNotCluster(cluster: Entry): string | undefined {
  const server = textOf(cluster, 'server');
  if (server === '') return 'has no server';
  if (!/^https?:\/\//.test(server))
    return `has the server ${sanitizeText(server)}, which begins with neither https:// nor http://`;
  if (!URL.canParse(server)) return `has the server ${sanitizeText(server)}, which is not an address`;
  const { username, password } = new URL(server);
  if (username !== '' || password !== '')
    return 'has a server with a password in it: write username and password of the user';
  if (has(cluster, 'proxy-url') && proxyUrl(withScheme(cluster)) === undefined)
    return 'has a proxy-url that is not an address of http, https or socks5';
  const [file, data] = [has(cluster, 'certificate-authority'), has(cluster, 'certificate-authority-data')];
  if (file && data) return 'has both certificate-authority and certificate-authority-data';
  if ((file || data) && cluster['insecure-skip-tls-verify'] === true)
    return 'has insecure-skip-tls-verify beside a certificate-authority';
  return undefined;
}

/** A proxy-url has to name its scheme. */
const withScheme = (cluster: Entry): string => {
  const proxy = textOf(cluster, 'proxy-url');
  return /^(?:https?|socks5):\/\//i.test(proxy) ? proxy : '://';
};

/** The same for a user. */
export function whyNotUser(user: Entry): string | undefined {
  const exec = mapOf(user['exec']);
  const provider = textOf(mapOf(user['auth-provider']), 'name');
  const [certificate, key] = ['client-certificate', 'client-key'] as const;
  const given = (name: string): boolean => has(user, name) || has(user, `${name}-data`);
  const twice = (name: string): boolean => has(user, name) && has(user, `${name}-data`);
  const isToken = has(user, 'token') || has(user, 'tokenFile');
  const acts = ['as-uid', 'as-groups', 'as-user-extra'].find((name) => isFilled(user[name]));
  const env = (exec['env'] ?? []) as readonly Entry[];
  const mistakes: readonly (readonly [is: boolean, why: string])[] = [
    [given(certificate) && [certificate, key].some(twice), `has both a file and data of its ${certificate} or ${key}`],
    [given(certificate) && !given(key), `has a ${certificate} without a ${key}`],
    [isToken && isBasic(user), 'has both a token and a username or password'],
    [acts !== undefined && !has(user, 'as'), `has ${acts} without as`],
    [isFilled(user['exec']) && provider !== '', 'has both exec and auth-provider'],
    [provider !== '' && provider !== 'oidc', `has the auth-provider ${provider}, which kubectl dropped: use exec`],
    ...(isFilled(user['exec'])
      ? ([
          [!has(exec, 'command'), 'has exec without a command'],
          [
            !EXEC_VERSIONS.includes(exec['apiVersion']),
            `has exec with the apiVersion ${textOf(exec, 'apiVersion') || 'left out'}: ${EXEC_VERSIONS.join(' or ')}`,
          ],
          [interactiveModeOf(exec) === undefined, 'has exec without an interactiveMode: Never, IfAvailable or Always'],
          [env.some((one) => !has(one, 'name')), 'has exec with an env without a name'],
        ] as const)
      : []),
  ];
  return mistakes.find(([is]) => is)?.[1];
}

const isBasic = (user: Entry): boolean => has(user, 'username') || has(user, 'password');

export type InteractiveMode = 'Never' | 'IfAvailable' | 'Always';

/** Undefined where it has to be there and is not, or is none. */
export function interactiveModeOf(exec: Entry): InteractiveMode | undefined {
  const mode = textOf(exec, 'interactiveMode') || (exec['apiVersion'] === EXEC_BETA ? 'IfAvailable' : '');
  return (['Never', 'IfAvailable', 'Always'] as const).find((one) => one === mode);
}

/**
 * By what a user proves who he is. Of several, kubectl takes the first of these; a plugin is not asked where there is a client
 * certificate, which goes with each of the others.
 */
export function meansOf(user: Entry): 'token' | 'basic' | 'exec' | 'provider' | 'nothing' {
  if (has(user, 'token') || has(user, 'tokenFile')) return 'token';
  if (isBasic(user)) return 'basic';
  const isCertified = has(user, 'client-certificate') || has(user, 'client-certificate-data');
  if (isFilled(user['exec'])) return isCertified ? 'nothing' : 'exec';
  return isFilled(user['auth-provider']) ? 'provider' : 'nothing';
}

/**
 * Why the token of `auth-provider: oidc` is of no use at a time. client-node would renew it and forget the new refresh token, with which
 * many identity providers end the old one: kubectl, which has only that, could not log in any more.
 */
export function whyNotProvider(user: Entry, now: Millis): string | undefined {
  const token = textOf(mapOf(mapOf(user['auth-provider'])['config']), 'id-token');
  return expiryOf(token) - EXPIRY_LEEWAY_MS > now
    ? undefined
    : 'the id-token of auth-provider oidc has expired: run kubectl once, which renews it and writes it into the kubeconfig';
}

/** As in kubectl. */
const EXPIRY_LEEWAY_MS = 10_000;

/** 0 where the token does not tell. */
function expiryOf(token: string): Millis {
  try {
    const { exp } = mapOf(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
    return typeof exp === 'number' ? exp * 1000 : 0;
  } catch {
    return 0;
  }
}

/** `Authorization: Basic …` */
export const basicOf = (user: Entry): string =>
  `Basic ${Buffer.from(`${textOf(user, 'username')}:${textOf(user, 'password')}`).toString('base64')}`;

/** The headers of `as`, `as-uid`, `as-groups` and `as-user-extra` (client-go: transport/round_trippers.go). */
export function impersonationOf(user: Entry): NonNullable<Credential['headers']> {
  if (!has(user, 'as')) return {};
  const extra = Object.entries(mapOf(user['as-user-extra']) as Readonly<Record<string, readonly string[]>>);
  const all: readonly (readonly [string, readonly string[]])[] = [
    ['impersonate-user', [textOf(user, 'as')]],
    ['impersonate-uid', has(user, 'as-uid') ? [textOf(user, 'as-uid')] : []],
    ['impersonate-group', (user['as-groups'] ?? []) as readonly string[]],
    ...extra.map(([key, values]) => [`impersonate-extra-${escaped(key)}`, values] as const),
  ];
  return Object.fromEntries(
    all.filter(([, values]) => values.length > 0).map(([name, values]) => [name, values.map(asBytes)]),
  );
}

/** Node writes a header byte by character; Go writes UTF-8. */
const asBytes = (text: string): string => Buffer.from(text).toString('latin1');

/** What cannot stand in the name of a header, and the percent sign, as `%2F`. */
const escaped = (key: string): string =>
  [...Buffer.from(key)]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      return /[!#$&'*+.^_`|~0-9A-Za-z-]/.test(letter) ? letter : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
