import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { parse } from 'yaml';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';
import { isMap, mapOf } from '#shared/runtime/maps.ts';
import { type Entry, type Fields, has, textOf, wrongType } from './kubeconfig-fields.ts';
import { kubeconfigError } from './kubeconfig-file.ts';
import { interactiveModeOf } from './kubeconfig-rules.ts';
import { lookPath, requireAllowedPlugin } from './plugin-policy.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What a plugin gave. */
export interface PluginCredential {
  readonly token?: string;
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
  /** Wall-clock time from which on the plugin has to run again. */
  readonly expires?: Millis;
}

/** An ExecCredential is a token or a certificate: anything longer is none. */
const MOST_BYTES = 1024 * 1024;

/**
 * Runs the credential plugin of a user as kubectl does (client-go: plugin/pkg/client/auth/exec): with the caller's standard error, and
 * with his terminal where the plugin may ask him.
 *
 * @param exec    of the user, checked by `whyNotUser`
 * @param cluster what it is told with `provideClusterInfo`
 * @throws GitopsError CREDENTIAL_UNAVAILABLE; nothing that the plugin printed is repeated
 */
export async function runPlugin(exec: Entry, cluster: Entry, env: Env): Promise<PluginCredential> {
  const command = textOf(exec, 'command');
  const fail = (what: string): never => {
    throw new GitopsError('CREDENTIAL_UNAVAILABLE', `the credential plugin ${command} ${what}`);
  };
  await requireAllowedPlugin(command, env);
  const mode = interactiveModeOf(exec);
  const isTerminal = isatty(0);
  if (mode === 'Always' && !isTerminal) fail('asks on a terminal (interactiveMode Always), and there is none');
  const interactive = mode !== 'Never' && isTerminal;
  const program = lookPath(command, env['PATH'] ?? '');
  if (program === undefined) fail(`is not there, or is not executable${hintOf(exec)}`);
  const child = spawn(program ?? command, (exec['args'] ?? []) as string[], {
    argv0: command,
    env: { ...env, ...envOf(exec), KUBERNETES_EXEC_INFO: execInfo(exec, cluster, interactive) },
    stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MOST_BYTES) chunks.push(chunk);
    else child.kill();
  });
  const [code, signal] = (await once(child, 'close').catch((error: unknown) =>
    fail(`cannot be started (${codeOf(error)})${hintOf(exec)}`),
  )) as [number | null, string | null];
  if (bytes > MOST_BYTES) fail('printed more than an ExecCredential can be');
  if (code !== 0) fail(`failed (${signal ?? `exit code ${code}`}): it says why on standard error`);
  const printed = credentialIn(Buffer.concat(chunks).toString('utf8'), textOf(exec, 'apiVersion'));
  return typeof printed === 'string' ? fail(printed) : printed;
}

const hintOf = (exec: Entry): string => {
  const hint = textOf(exec, 'installHint').trim();
  return hint === '' ? ': install it' : `. The kubeconfig says: ${hint}`;
};

const envOf = (exec: Entry): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ((exec['env'] ?? []) as readonly Entry[]).map((one) => [textOf(one, 'name'), textOf(one, 'value')]),
  );

/** `KUBERNETES_EXEC_INFO`. */
function execInfo(exec: Entry, cluster: Entry, interactive: boolean): string {
  return JSON.stringify({
    kind: 'ExecCredential',
    apiVersion: exec['apiVersion'],
    spec: { ...(exec['provideClusterInfo'] === true ? { cluster } : {}), interactive },
  });
}

const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

/** `spec.cluster` of an ExecCredential (client-go: rest/exec.go). */
export async function clusterInfo(cluster: Entry): Promise<Entry> {
  const extensions = (cluster['extensions'] ?? []) as readonly Entry[];
  const file = textOf(cluster, 'certificate-authority');
  const data =
    file === ''
      ? textOf(cluster, 'certificate-authority-data')
      : await readFile(file, 'base64').catch((error: unknown) => {
          throw kubeconfigError('KUBECONFIG_INVALID', `cannot read ${file} (${codeOf(error)})`);
        });
  const given = Object.entries({
    'tls-server-name': textOf(cluster, 'tls-server-name'),
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'] === true,
    'certificate-authority-data': data,
    'proxy-url': textOf(cluster, 'proxy-url'),
    'disable-compression': cluster['disable-compression'] === true,
  }).filter(([, value]) => value !== '' && value !== false);
  return {
    server: textOf(cluster, 'server'),
    ...Object.fromEntries(given),
    config: extensions.find(({ name }) => name === EXEC_EXTENSION)?.['extension'] ?? null,
  };
}

const STATUS_FIELDS = {
  expirationTimestamp: { type: 'text' },
  token: { type: 'text' },
  clientCertificateData: { type: 'text' },
  clientKeyData: { type: 'text' },
} as const satisfies Fields;

/** What a plugin printed; a text says what is wrong with it, and repeats none of it. */
export function credentialIn(printed: string, apiVersion: string): PluginCredential | string {
  const credential = parsed(printed);
  if (credential['kind'] !== 'ExecCredential' || !isMap(credential['status']))
    return 'printed no ExecCredential with a status';
  if (credential['apiVersion'] !== apiVersion) return `printed an ExecCredential that is not of ${apiVersion}`;
  const status = credential['status'];
  const wrong = wrongType(status, STATUS_FIELDS);
  if (wrong !== undefined) return `printed an ExecCredential whose status.${wrong}`;
  const [token, cert, key] = ['token', 'clientCertificateData', 'clientKeyData'].map((name) =>
    textOf(status, name),
  ) as [string, string, string];
  if ((cert === '') !== (key === '')) return 'printed a certificate without a key, or a key without a certificate';
  if (token === '' && cert === '') return 'printed neither a token nor a certificate';
  const expires = fromTimestamp(textOf(status, 'expirationTimestamp'));
  if (has(status, 'expirationTimestamp') && expires === undefined)
    return 'printed an expirationTimestamp that is no time';
  return {
    ...(token === '' ? {} : { token }),
    ...(cert === '' ? {} : { cert, key }),
    ...(expires === undefined ? {} : { expires }),
  };
}

/** JSON is YAML, and kubectl takes both. */
function parsed(text: string): Entry {
  try {
    return mapOf(parse(text));
  } catch {
    return {};
  }
}
