import type { Agent, OutgoingHttpHeaders } from 'node:http';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import type { Credential, Credentials } from '#shared/kube/kube-credentials.ts';
import { createFileText } from '#shared/kube/file-text.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { codeOf, GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { sanitizeText } from '#shared/runtime/sanitize.ts';
import { kubeconfigError, type Entry, type Kubeconfig, readKubeconfigs } from './kubeconfig-file.ts';

interface OpenedKubeconfig {
  readonly server: string;
  readonly credentials: Credentials;
}

/**
 * The cluster and the user of a kubeconfig's context, with every way of authentication that client-node knows
 * (certificates, tokens, exec plugins, OIDC …). After a refusal the files are read again.
 *
 * @param context default: the current one
 * @throws GitopsError KUBECONFIG_MISSING or KUBECONFIG_INVALID
 */
export async function openKubeconfig(
  paths: readonly string[],
  context: string | undefined,
  clock: Clock,
): Promise<OpenedKubeconfig> {
  const where = paths.join(', ');
  const first = await read(paths, context);
  if (!URL.canParse(first.server)) {
    throw kubeconfigError('KUBECONFIG_INVALID', `${where}: the server ${sanitizeText(first.server)} is not an address`);
  }
  if (first.server.startsWith('http://')) {
    // As kubectl: no credential over a connection that anybody can listen to.
    return { server: first.server, credentials: { current: () => Promise.resolve({}), refresh: () => undefined } };
  }
  if (!first.server.startsWith('https://')) {
    throw kubeconfigError('KUBECONFIG_INVALID', `${where}: the server ${first.server} is neither https:// nor http://`);
  }
  let present: Selected | undefined = first;
  let token = tokenFileOf(first, clock);
  return {
    server: first.server,
    credentials: {
      async current() {
        if (present === undefined) {
          present = await read(paths, context);
          token = tokenFileOf(present, clock);
        }
        const credential = await credentialOf(present);
        return token === undefined ? credential : { ...credential, token: await token.read() };
      },
      refresh() {
        present = undefined;
      },
    },
  };
}

interface Selected {
  readonly server: string;
  readonly user: Entry;
  readonly proxied: boolean;
  readonly config: KubeConfig;
}

async function read(paths: readonly string[], context: string | undefined): Promise<Selected> {
  return select(await readKubeconfigs(paths), context, paths.join(', '));
}

function select(all: Kubeconfig, context: string | undefined, where: string): Selected {
  const name = context ?? all.currentContext;
  if (name === '') throw kubeconfigError('KUBECONFIG_INVALID', `${where}: no current context; name one with --context`);
  const chosen = all.contexts.get(name);
  if (chosen === undefined) {
    const known = [...all.contexts.keys()].join(', ') || 'none';
    throw kubeconfigError('KUBECONFIG_INVALID', `${where}: no context ${name}; there are: ${known}`);
  }
  const cluster = all.clusters.get(String(chosen['cluster']));
  if (cluster === undefined || typeof cluster['server'] !== 'string' || cluster['server'] === '') {
    throw kubeconfigError(
      'KUBECONFIG_INVALID',
      `${where}: context ${name} is of a cluster that is not there, or has no server`,
    );
  }
  const anonymous = chosen['user'] === undefined || chosen['user'] === '';
  const user = anonymous ? {} : all.users.get(String(chosen['user']));
  if (user === undefined) {
    throw kubeconfigError(
      'KUBECONFIG_INVALID',
      `${where}: context ${name} is of the user ${String(chosen['user'])}, not there`,
    );
  }
  const proxied = typeof cluster['proxy-url'] === 'string' && cluster['proxy-url'] !== '';
  if (proxied && !URL.canParse(String(cluster['proxy-url']))) {
    throw kubeconfigError('KUBECONFIG_INVALID', `${where}: the proxy-url of context ${name} is not an address`);
  }
  return { server: cluster['server'], user, proxied, config: configOf(cluster, user) };
}

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

async function credentialOf({ config, user, proxied }: Selected): Promise<Credential> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    throw new GitopsError('CREDENTIAL_UNAVAILABLE', describe(error, user));
  }
  const { token, headers } = splitHeaders((options.headers ?? {}) as OutgoingHttpHeaders, options.auth);
  return {
    ...optional('ca', pem(options.ca)),
    ...optional('cert', pem(options.cert)),
    ...optional('key', pem(options.key)),
    ...optional('token', token),
    ...optional('serverName', options.servername),
    ...(options.rejectUnauthorized === false ? { insecure: true } : {}),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(proxied ? { agent: options.agent as Agent } : {}),
  };
}

const optional = <Key extends string>(key: Key, value: string | undefined): { readonly [K in Key]?: string } =>
  (value === undefined || value === '' ? {} : { [key]: value }) as { readonly [K in Key]?: string };

function pem(value: unknown): string | undefined {
  if (Buffer.isBuffer(value)) return value.toString('utf8');
  return typeof value === 'string' ? value : undefined;
}

function splitHeaders(all: OutgoingHttpHeaders, basic: string | null | undefined) {
  const headers: Record<string, string> = {};
  let token: string | undefined;
  for (const [name, value] of Object.entries(all)) {
    const bearer = name.toLowerCase() === 'authorization' ? /^Bearer (.*)$/s.exec(String(value))?.[1] : undefined;
    if (bearer === undefined) headers[name] = String(value);
    else token = bearer.trim();
  }
  if (typeof basic === 'string') headers['authorization'] = `Basic ${Buffer.from(basic).toString('base64')}`;
  return { token, headers };
}

const tokenFileOf = ({ user }: Selected, clock: Clock) =>
  typeof user['tokenFile'] === 'string' && user['tokenFile'] !== ''
    ? createFileText(user['tokenFile'], clock)
    : undefined;

/** A plugin's own words, shortened: they may run to pages. */
function describe(error: unknown, user: Entry): string {
  const words = sanitizeText(reasonOf(error)).replaceAll(/\s+/g, ' ').trim().slice(0, 300);
  const exec = user['exec'] as { readonly command?: unknown } | undefined;
  if (typeof exec?.command !== 'string') return words;
  const plugin = `the credential plugin ${exec.command}`;
  // The parser would quote what was printed, and that may be a token.
  if ((error instanceof SyntaxError || error instanceof TypeError) && codeOf(error) === undefined)
    return `${plugin} printed no ExecCredential`;
  return words === '' ? `${plugin} failed, and did not say why` : `${plugin} failed: ${words}`;
}
