import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';
import { isMap, mapOf } from '#shared/runtime/maps.ts';
import {
  AUTH_PROVIDER_FIELDS,
  CLUSTER_FIELDS,
  CONFIG_FIELDS,
  CONTEXT_FIELDS,
  type Entry,
  EXEC_ENV_FIELDS,
  EXEC_FIELDS,
  type Fields,
  textOf,
  USER_FIELDS,
  wrongType,
} from './kubeconfig-fields.ts';

/** A kubeconfig, or several as one. Paths in it are absolute. */
export interface Kubeconfig {
  readonly currentContext: string;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
}

/**
 * Reads kubeconfigs as kubectl does: of several, the first that defines a name (or the current context) wins, and one
 * that is missing is passed over as long as there is another.
 *
 * @throws GitopsError KUBECONFIG_MISSING or KUBECONFIG_INVALID
 */
export async function readKubeconfigs(paths: readonly string[]): Promise<Kubeconfig> {
  const read = await Promise.all(paths.map(readOne));
  const found = read.filter((one) => one !== undefined);
  if (found.length === 0)
    throw kubeconfigError(
      'KUBECONFIG_MISSING',
      `there is no kubeconfig at ${paths.join(' or ') || 'all: KUBECONFIG names no file'}`,
    );
  return mergeKubeconfigs(found);
}

export function mergeKubeconfigs(all: readonly Kubeconfig[]): Kubeconfig {
  const firstWins = (part: 'clusters' | 'users' | 'contexts'): ReadonlyMap<string, Entry> =>
    new Map(all.toReversed().flatMap((one) => [...one[part]]));
  return {
    currentContext: all.find((one) => one.currentContext !== '')?.currentContext ?? '',
    clusters: firstWins('clusters'),
    users: firstWins('users'),
    contexts: firstWins('contexts'),
  };
}

async function readOne(path: string): Promise<Kubeconfig | undefined> {
  try {
    return parseKubeconfig(await readFile(path, 'utf8'), path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (error instanceof GitopsError) throw error;
    throw kubeconfigError('KUBECONFIG_INVALID', `cannot read the kubeconfig ${path}`, error);
  }
}

/**
 * @param path where the text comes from: relative paths in it start there
 * @throws GitopsError KUBECONFIG_INVALID, with the name of what kubectl would not take either
 */
export function parseKubeconfig(text: string, path: string): Kubeconfig {
  const document = parseYaml(text, path) ?? {};
  if (!isMap(document)) throw kubeconfigError('KUBECONFIG_INVALID', `${path} is not a kubeconfig: it holds no mapping`);
  const refuse = (what: string): never => {
    throw kubeconfigError('KUBECONFIG_INVALID', `${path}: ${what}`);
  };
  const check = (whose: string, entry: unknown, fields: Fields): void => {
    const wrong = wrongType(mapOf(entry), fields);
    if (wrong !== undefined) refuse(whose + wrong);
  };
  check('', document, CONFIG_FIELDS);
  for (const [field, only] of [
    ['kind', 'Config'],
    ['apiVersion', 'v1'],
  ] as const) {
    if ((document[field] ?? '') !== '' && document[field] !== only) refuse(`${field} must be ${only}`);
  }
  const list = (part: string, kind: string, fields: Fields): ReadonlyMap<string, Entry> => {
    const found = new Map<string, Entry>();
    for (const each of listOf(document[part])) {
      check(`an entry of ${part}: `, each, { name: { type: 'text' }, [kind]: { type: 'map' } });
      const [name, entry] = [textOf(each, 'name'), mapOf(each[kind])];
      if (found.has(name)) refuse(`${part} has ${name} twice`);
      check(`${kind} ${name}: `, entry, fields);
      const exec = mapOf(entry['exec']);
      check(`${kind} ${name}: exec.`, exec, EXEC_FIELDS);
      for (const one of listOf(exec['env'])) check(`${kind} ${name}: exec.env: `, one, EXEC_ENV_FIELDS);
      check(`${kind} ${name}: auth-provider.`, entry['auth-provider'], AUTH_PROVIDER_FIELDS);
      found.set(name, absolute(entry, resolve(dirname(path))));
    }
    return found;
  };
  return {
    currentContext: textOf(document, 'current-context'),
    clusters: list('clusters', 'cluster', CLUSTER_FIELDS),
    users: list('users', 'user', USER_FIELDS),
    contexts: list('contexts', 'context', CONTEXT_FIELDS),
  };
}

const listOf = (value: unknown): readonly Entry[] => (Array.isArray(value) ? value : []).map(mapOf);

/** The parser's message would quote the line, and a line may hold a token. */
function parseYaml(text: string, path: string): unknown {
  try {
    return parse(text, { merge: true }) as unknown;
  } catch (error) {
    const at = (error as { readonly linePos?: readonly [{ readonly line: number }] }).linePos?.[0].line;
    const where = at === undefined ? '' : `, line ${at}`;
    throw kubeconfigError(
      'KUBECONFIG_INVALID',
      `${path} is not a kubeconfig: not YAML (${codeOf(error) ?? 'unreadable'}${where})`,
    );
  }
}

const PATHS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

/** A command without a slash is looked for in `PATH`. */
function absolute(entry: Entry, directory: string): Entry {
  const whole = (path: unknown): unknown =>
    typeof path === 'string' && path !== '' && !isAbsolute(path) ? join(directory, path) : path;
  const paths = PATHS.filter((key) => key in entry).map((key) => [key, whole(entry[key])]);
  const exec = mapOf(entry['exec']);
  const command = textOf(exec, 'command');
  const plugin = command.includes('/') ? { exec: { ...exec, command: whole(command) } } : {};
  return { ...entry, ...Object.fromEntries(paths), ...plugin };
}

export function kubeconfigError(
  code: 'KUBECONFIG_MISSING' | 'KUBECONFIG_INVALID',
  message: string,
  cause?: unknown,
): GitopsError {
  return new GitopsError(code, message, { cause });
}
