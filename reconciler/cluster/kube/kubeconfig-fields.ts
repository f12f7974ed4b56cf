import { isMap } from '#shared/runtime/maps.ts';

/**
 * Every field of a kubeconfig (client-go 1.37: tools/clientcmd/api/v1, client.authentication.k8s.io) and every variable of the
 * environment by which kubectl finds an API server or a credential. What reads kubeconfigs judges types by this table, the
 * reference is written from it, and a test compares it with the source of kubectl.
 */

/** A cluster, a user, a context, or what one of them holds. */
export type Entry = Readonly<Record<string, unknown>>;

/** A text of an entry; empty where there is none. */
export function textOf(entry: Entry, name: string): string {
  const value = entry[name];
  return typeof value === 'string' ? value : '';
}

/** Whether a text is there, and not empty. */
export const has = (entry: Entry, name: string): boolean => textOf(entry, name) !== '';

/** What a value must be. `bytes` is base64. */
type Type = 'text' | 'flag' | 'bytes' | 'texts' | 'mapOfText' | 'mapOfTexts' | 'map' | 'maps';

export interface Field {
  readonly type: Type;
  /** What becomes of it, where that is not just what becomes of it in kubectl. */
  readonly note?: string;
}

export type Fields = Readonly<Record<string, Field>>;

const a =
  (type: Type) =>
  (note?: string): Field => ({ type, ...(note === undefined ? {} : { note }) });
const [text, flag, bytes, texts] = [a('text'), a('flag'), a('bytes'), a('texts')];
const [mapOfText, mapOfTexts, map, maps] = [a('mapOfText'), a('mapOfTexts'), a('map'), a('maps')];
const UNUSED = 'nothing depends on it, in kubectl either';
const NEEDS_AS = 'refused without `as`';

export const CONFIG_FIELDS: Fields = {
  kind: text('anything but `Config` is refused'),
  apiVersion: text('anything but `v1` is refused'),
  preferences: map(UNUSED),
  clusters: maps('two of one name in a file are refused; of several files, the first that has the name counts'),
  users: maps('as `clusters`'),
  contexts: maps('as `clusters`'),
  'current-context': text('of several files, the first that has one counts'),
  extensions: maps(UNUSED),
};

export const CONTEXT_FIELDS: Fields = {
  cluster: text(),
  user: text('one that is not there is refused, where kubectl asks for a password; without one, no credential'),
  namespace: text('not used: `--namespace` is where the reconciler runs'),
  extensions: maps(UNUSED),
};

export const CLUSTER_FIELDS: Fields = {
  server: text(
    '`https://`, or `http://`, over which no credential goes; refused without either, or with a password in it',
  ),
  'tls-server-name': text(),
  'insecure-skip-tls-verify': flag('refused beside an authority'),
  'certificate-authority': text('refused beside `-data`. Without either: the authorities of the system, and of Node'),
  'certificate-authority-data': bytes(),
  'proxy-url': text('`http`, `https`, `socks5`; anything else is refused'),
  'disable-compression': flag(),
  extensions: maps('`client.authentication.k8s.io/exec` goes to the plugin'),
};

export const USER_FIELDS: Fields = {
  'client-certificate': text('refused beside `-data`, and without a key'),
  'client-certificate-data': bytes(),
  'client-key': text('refused beside `-data`'),
  'client-key-data': bytes(),
  token: text('goes before `exec` and `auth-provider`; refused beside `username`'),
  tokenFile: text('goes before `token`, which stands in for a file that cannot be read'),
  as: text(),
  'as-uid': text(NEEDS_AS),
  'as-groups': texts(NEEDS_AS),
  'as-user-extra': mapOfTexts(NEEDS_AS),
  username: text(),
  password: text(),
  'auth-provider': map('`oidc` until its `id-token` expires, which kubectl renews and writes down; others are refused'),
  exec: map('refused beside `auth-provider`'),
  extensions: maps(UNUSED),
};

export const AUTH_PROVIDER_FIELDS: Fields = { name: text(), config: mapOfText() };

export const EXEC_FIELDS: Fields = {
  command: text('with a slash, relative to the file; otherwise from `PATH`'),
  args: texts(),
  env: maps(),
  apiVersion: text('`client.authentication.k8s.io/v1` or `v1beta1`; anything else is refused'),
  installHint: text(),
  provideClusterInfo: flag(),
  interactiveMode: text('has to be there in `v1`. `Always` is refused where standard input is no terminal'),
};

export const EXEC_ENV_FIELDS: Fields = { name: text(), value: text() };

/** `ExecCredential`, which a plugin is told in `KUBERNETES_EXEC_INFO` and prints. */
export const EXEC_CREDENTIAL_FIELDS: Fields = {
  'spec.cluster': map('only with `provideClusterInfo`'),
  'spec.interactive': flag(),
  'status.expirationTimestamp': text('the plugin runs again afterwards, and after a refusal'),
  'status.token': text('this, or certificate and key'),
  'status.clientCertificateData': text(),
  'status.clientKeyData': text(),
};

const PROXY = 'or in lower case, as Go reads it; `proxy-url` goes before it';
const OF_KUBECTL = 'not read: it is about kubectl itself';

/** Variables of the environment. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  KUBECONFIG: 'files, separated by `:`; those that are missing are passed over as long as there is one',
  HOME: '`~/.kube/config`, without `KUBECONFIG` and `--kubeconfig`',
  KUBERNETES_SERVICE_HOST:
    'the service account of the pod, where there is no kubeconfig, or one without a current context',
  KUBERNETES_SERVICE_PORT: 'as `KUBERNETES_SERVICE_HOST`',
  HTTPS_PROXY: PROXY,
  HTTP_PROXY: PROXY,
  NO_PROXY: PROXY,
  REQUEST_METHOD: 'with it, `HTTP_PROXY` is refused',
  KUBERC:
    '`credentialPluginPolicy` and its list say which plugins may run; `off`, or a file in place of `~/.kube/kuberc`',
  KUBERNETES_MASTER: 'refused where there is no kubeconfig',
  POD_NAMESPACE: 'not used, as `namespace`',
  KUBE_CLIENT_BACKOFF_BASE: OF_KUBECTL,
  KUBE_CLIENT_BACKOFF_DURATION: OF_KUBECTL,
  KUBECACHEDIR: OF_KUBECTL,
  DISABLE_HTTP2: 'not read: HTTP/1.1 is spoken',
  HTTP2_READ_IDLE_TIMEOUT_SECONDS: 'as `DISABLE_HTTP2`',
  HTTP2_PING_TIMEOUT_SECONDS: 'as `DISABLE_HTTP2`',
};

const isText = (value: unknown): boolean => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isMapOf = (value: unknown, what: (one: unknown) => boolean): boolean =>
  isMap(value) && Object.values(value).every(what);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const TYPES: Readonly<Record<Type, readonly [what: string, fits: (value: unknown) => boolean]>> = {
  text: ['text', isText],
  flag: ['true or false', (value) => typeof value === 'boolean'],
  bytes: ['base64', (value) => typeof value === 'string' && BASE64.test(value.replaceAll(/[\r\n]/g, ''))],
  texts: ['a list of text', isTexts],
  mapOfText: ['a map of text', (value) => isMapOf(value, isText)],
  mapOfTexts: ['a map of lists of text', (value) => isMapOf(value, isTexts)],
  map: ['a map', isMap],
  maps: ['a list of maps', (value) => Array.isArray(value) && value.every(isMap)],
};

/** The first field that is not what it must be, as kubectl takes nothing else: `as-groups must be a list of text`. */
export function wrongType(entry: Entry, fields: Fields): string | undefined {
  for (const [name, { type }] of Object.entries(fields)) {
    const value = entry[name] ?? null;
    const [what, fits] = TYPES[type];
    if (value !== null && !fits(value)) return `${name} must be ${what}`;
  }
  return undefined;
}
