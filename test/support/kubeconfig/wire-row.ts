import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WireWorld } from './wire-world.ts';

/** One kubeconfig, and what goes over the wire with it: the same from kubectl and from here. */
export interface WireRow {
  readonly what: string;
  /** Besides an https server and its authority. */
  readonly cluster?: Entry;
  /** Without server and authority. */
  readonly bare?: true;
  readonly user?: Entry;
  readonly config?: Entry;
  /** In place of one file that is named: files beside it, as text where they are none of maps. */
  readonly files?: Readonly<Record<string, Entry | string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What kubectl's own preferences say of plugins. */
  readonly kuberc?: Entry;
  /** Beside `accept-encoding: gzip`, which `packed: false` leaves out. */
  readonly sends?: readonly string[];
  readonly packed?: false;
  /** Nothing is sent: what is said here. */
  readonly refused?: RegExp;
  /** What kubectl sends instead, before it succeeds or fails: we refuse more. */
  readonly kubectl?: readonly string[];
}

export type Entry = Readonly<Record<string, unknown>>;

export const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** `me`, with `s:ecret`. */
export const BASIC = `Basic ${base64('me:s:ecret')}`;

const V1 = 'client.authentication.k8s.io/v1';
/** A user of `bin/plugin`. */
export const exec = (more: Entry = {}): Entry => ({
  exec: { apiVersion: V1, command: './bin/plugin', interactiveMode: 'Never', ...more },
});
/** What a plugin is told. */
export const info = (spec: Entry, apiVersion = V1): string =>
  `info: ${JSON.stringify({ apiVersion, kind: 'ExecCredential', spec })}`;
/** What is heard of a plugin that ran without arguments. */
export const RAN = ['args: ', 'env: '];
export const FROM_PLUGIN = 'authorization: Bearer from-plugin';

/** Writes the files of a row. JSON is YAML. */
export async function prepareRow(
  { cluster, bare, user, config, files, kuberc, env }: WireRow,
  { https, directory }: WireWorld,
): Promise<{ readonly kubeconfig: string | undefined; readonly env: Readonly<Record<string, string>> }> {
  const usual = bare === true ? {} : { server: https, 'certificate-authority': 'ca.crt' };
  const text = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'here', cluster: { ...usual, ...cluster } }],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'usual', context: { cluster: 'here', user: 'me', namespace: 'team' } }],
    'current-context': 'usual',
    ...config,
  });
  const KUBERC = join(directory, 'kuberc');
  for (const [name, content] of Object.entries(files ?? { config: text })) {
    await mkdir(join(directory, dirname(name)), { recursive: true });
    await writeFile(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  await writeFile(
    KUBERC,
    JSON.stringify({ apiVersion: 'kubectl.config.k8s.io/v1beta1', kind: 'Preference', ...kuberc }),
  );
  const around = { PATH: '/usr/bin:/bin', HOME: directory, ...(kuberc === undefined ? {} : { KUBERC }) };
  return { kubeconfig: files === undefined ? join(directory, 'config') : undefined, env: { ...around, ...env } };
}

/** What is expected of a row, as `WireWorld.taken` has it. */
export function expectedOf({ sends, refused, packed }: WireRow): readonly string[] {
  if (sends === undefined) return [];
  const plain = refused !== undefined || packed === false;
  return [...sends, ...(plain ? [] : ['accept-encoding: gzip'])].toSorted();
}
