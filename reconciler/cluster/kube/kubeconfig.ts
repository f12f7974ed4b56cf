import type { OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import tls from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node';
import type { Credential, Credentials } from '#shared/kube/kube-credentials.ts';
import { createFileText } from '#shared/kube/file-text.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { mapOf } from '#shared/runtime/maps.ts';
import { sanitizeText } from '#shared/runtime/sanitize.ts';
import { clusterInfo, runPlugin } from './exec-plugin.ts';
import { type Entry, has, textOf } from './kubeconfig-fields.ts';
import { kubeconfigError, type Kubeconfig, readKubeconfigs } from './kubeconfig-file.ts';
import { basicOf, impersonationOf, meansOf, whyNotCluster, whyNotProvider, whyNotUser } from './kubeconfig-rules.ts';

interface OpenedKubeconfig {
  readonly server: string;
  readonly credentials: Credentials;
  /** `proxy-url`, which goes before the environment's. */
  readonly proxy: string | undefined;
  readonly disableCompression: boolean;
}

interface Surroundings {
  readonly clock: Clock;
  /** Handed on to plugins. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The cluster and the user of a kubeconfig's context, as kubectl takes them: `kubeconfig-fields.ts` has every field. After a
 * refusal the files are read again.
 *
 * @param context default: the current one
 * @returns undefined where there is no current context, or it is of no cluster: kubectl then takes a pod's service account
 * @throws GitopsError KUBECONFIG_MISSING or KUBECONFIG_INVALID
 */
export async function openKubeconfig(
  paths: readonly string[],
  context: string | undefined,
  around: Surroundings,
): Promise<OpenedKubeconfig | undefined> {
  const read = async (): Promise<Selected | undefined> =>
    select(await readKubeconfigs(paths), context, paths.join(', '));
  const first = await read();
  if (first === undefined) return undefined;
  const { cluster } = first;
  let reading: Promise<Selected | undefined> = Promise.resolve(first);
  const load = async (): Promise<Loaded> => {
    const selected = await reading;
    if (selected === undefined) throw noContext(paths);
    // As kubectl: no credential over a connection that anybody can listen to, but whom to act as.
    if (textOf(cluster, 'server').startsWith('http:'))
      return { credential: withHeaders({}, impersonationOf(selected.user)) };
    return loadCredential(selected, around);
  };
  let present: Promise<Loaded> | undefined;
  /** What has expired is not used again; what a plugin just gave is, once, as in kubectl. */
  let expires = Number.POSITIVE_INFINITY;
  const credentials: Credentials = {
    async current() {
      if (around.clock.now() > expires) [present, expires] = [undefined, Number.POSITIVE_INFINITY];
      present ??= load();
      const asked = present;
      try {
        const loaded = await asked;
        if (present === asked) expires = loaded.expires ?? Number.POSITIVE_INFINITY;
        return loaded.token === undefined ? loaded.credential : { ...loaded.credential, token: await loaded.token() };
      } catch (error) {
        // A failure is not remembered: the next call tries again.
        if (present === asked) credentials.refresh();
        throw error;
      }
    },
    refresh() {
      [present, expires] = [undefined, Number.POSITIVE_INFINITY];
      reading = read();
      // Whoever asks next hears of it.
      reading.catch(() => undefined);
    },
  };
  return {
    server: textOf(cluster, 'server'),
    credentials,
    proxy: has(cluster, 'proxy-url') ? textOf(cluster, 'proxy-url') : undefined,
    disableCompression: cluster['disable-compression'] === true,
  };
}

interface Selected {
  readonly cluster: Entry;
  readonly user: Entry;
}

/** What is known until it is refused, or expires. */
interface Loaded {
  readonly credential: Credential;
  /** Reads a token that others replace. */
  readonly token?: () => Promise<string>;
  readonly expires?: Millis;
}

export const noContext = (paths: readonly string[]): GitopsError =>
  kubeconfigError('KUBECONFIG_INVALID', `${paths.join(', ')}: no current context; name one with --context`);

function select(all: Kubeconfig, context: string | undefined, where: string): Selected | undefined {
  const name = context ?? all.currentContext;
  if (name === '') return undefined;
  const refuse = (why: string): never => {
    throw kubeconfigError('KUBECONFIG_INVALID', `${where}: ${why}`);
  };
  const known = (): string => [...all.contexts.keys()].join(', ') || 'none';
  const chosen = all.contexts.get(name) ?? refuse(`no context ${name}; there are: ${known()}`);
  if (context === undefined && !has(chosen, 'cluster')) return undefined;
  const clusterName = textOf(chosen, 'cluster');
  const cluster =
    all.clusters.get(clusterName) ?? refuse(`context ${name} is of the cluster ${clusterName}, not there`);
  const userName = textOf(chosen, 'user');
  const user =
    userName === '' ? {} : (all.users.get(userName) ?? refuse(`context ${name} is of the user ${userName}, not there`));
  const why = whyNotCluster(cluster);
  if (why !== undefined) refuse(`cluster ${clusterName} ${why}`);
  const whyUser = whyNotUser(user);
  if (whyUser !== undefined) refuse(`user ${userName} ${whyUser}`);
  return { cluster, user };
}

async function loadCredential({ cluster, user }: Selected, around: Surroundings): Promise<Loaded> {
  const means = meansOf(user);
  const stale = means === 'provider' ? whyNotProvider(user, around.clock.now()) : undefined;
  if (stale !== undefined) throw new GitopsError('CREDENTIAL_UNAVAILABLE', stale);
  const base = await fromLibrary(cluster, user, means === 'provider');
  const credential = withHeaders(base, impersonationOf(user));
  switch (means) {
    case 'token':
      return { credential, token: tokenOf(user, around.clock) };
    case 'basic':
      return { credential: withHeaders(credential, { ...credential.headers, authorization: basicOf(user) }) };
    case 'exec': {
      const info = await clusterInfo(cluster);
      const { expires, ...given } = await runPlugin(mapOf(user['exec']), info, around.env);
      return { credential: { ...credential, ...given }, ...(expires === undefined ? {} : { expires }) };
    }
    case 'provider':
    case 'nothing':
      return { credential };
  }
}

const withHeaders = (credential: Credential, headers: NonNullable<Credential['headers']>): Credential =>
  Object.keys(headers).length === 0 ? credential : { ...credential, headers };

/** The file goes first; the token stands in for a file that cannot be read. */
function tokenOf(user: Entry, clock: Clock): () => Promise<string> {
  const fixed = textOf(user, 'token').trim();
  if (!has(user, 'tokenFile')) return () => Promise.resolve(fixed);
  const file = createFileText(textOf(user, 'tokenFile'), clock);
  return async () => {
    try {
      return await file.read();
    } catch (error) {
      if (fixed === '') throw error;
      return fixed;
    }
  };
}

/** client-node reads authority, certificate and key, and knows `auth-provider: oidc`. All else is decided here. */
async function fromLibrary(cluster: Entry, user: Entry, withProvider: boolean): Promise<Credential> {
  const { 'proxy-url': _, ...direct } = cluster;
  const names = [...CERTIFICATE, ...(withProvider ? ['auth-provider'] : [])];
  const certified = Object.fromEntries(
    names.flatMap((name) => (name in user ? [[name, user[name] ?? undefined]] : [])),
  );
  const options: RequestOptions = {};
  try {
    await configOf(direct, certified).applyToHTTPSOptions(options);
  } catch (error) {
    throw new GitopsError('CREDENTIAL_UNAVAILABLE', sanitizeText(reasonOf(error)).slice(0, 300));
  }
  const { Authorization: said } = (options.headers ?? {}) as OutgoingHttpHeaders;
  return {
    ...optional('ca', pem(options.ca) ?? authoritiesOfSystem(cluster)),
    ...optional('cert', pem(options.cert)),
    ...optional('key', pem(options.key)),
    ...optional('token', /^Bearer (.+)$/.exec(String(said))?.[1]),
    ...optional('serverName', options.servername),
    ...(options.rejectUnauthorized === false ? { insecure: true } : {}),
  };
}

const CERTIFICATE = ['client-certificate', 'client-certificate-data', 'client-key', 'client-key-data'];

/** client-node's view of one cluster and one user; it reads `user` as a name first, so each gets one. */
function configOf(cluster: Entry, user: Entry): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(
    JSON.stringify({
      clusters: [{ name: 'cluster', cluster }],
      users: [{ name: 'user', user }],
      contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'user' } }],
      'current-context': 'context',
    }),
  );
  return config;
}

const optional = <Key extends string>(key: Key, value: string | undefined): { readonly [K in Key]?: string } =>
  (value === undefined || value === '' ? {} : { [key]: value }) as { readonly [K in Key]?: string };

function pem(value: unknown): string | undefined {
  if (Buffer.isBuffer(value)) return value.toString('utf8');
  return typeof value === 'string' ? value : undefined;
}

/** kubectl believes the authorities of the system; Node by itself has its own, and before 22.15 no others. */
function authoritiesOfSystem(cluster: Entry): string | undefined {
  if (cluster['insecure-skip-tls-verify'] === true || !('getCACertificates' in tls)) return undefined;
  return [...tls.getCACertificates('default'), ...tls.getCACertificates('system')].join('\n');
}
