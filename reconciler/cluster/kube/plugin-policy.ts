import { accessSync, constants, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, normalize, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { codeOf } from '#shared/runtime/errors.ts';
import { type UnknownMap, isMap, mapOf } from '#shared/runtime/maps.ts';
import { textOf } from './kubeconfig-fields.ts';
import { kubeconfigError } from './kubeconfig-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Whether this user lets kubectl run a credential plugin: `credentialPluginPolicy` of `~/.kube/kuberc`, or of the file that `KUBERC`
 * names (kubectl 1.36: pkg/kuberc).
 *
 * @throws GitopsError KUBECONFIG_INVALID, where not
 */
export async function requireAllowedPlugin(command: string, env: Env): Promise<void> {
  const { KUBERC: named = '', HOME: home = '', PATH: path = '' } = env;
  if (named === 'off' || (named === '' && home === '')) return;
  const file = named === '' ? join(home, '.kube', 'kuberc') : named;
  const refuse = (why: string): never => {
    throw kubeconfigError('KUBECONFIG_INVALID', `${file}: ${why}`);
  };
  const text = await readFile(file, 'utf8').catch((error: unknown) =>
    named === '' && codeOf(error) === 'ENOENT' ? '' : refuse(`cannot be read (${codeOf(error)})`),
  );
  const preference = preferenceIn(text) ?? refuse('is no Preference of kubectl. KUBERC=off passes it over');
  const why = whyNotPlugin(preference, command, (name) => lookPath(name, path));
  if (why !== undefined) refuse(why);
}

function preferenceIn(text: string): UnknownMap | undefined {
  if (text.trim() === '') return {};
  const all: readonly unknown[] = parseAllDocuments(text).map((one) => one.errors.length === 0 && one.toJS());
  return all.filter(isMap).find(({ kind }) => kind === 'Preference');
}

/** @param find the program of a name, as it would be run */
export function whyNotPlugin(
  preference: UnknownMap,
  command: string,
  find: (name: string) => string | undefined,
): string | undefined {
  const { credentialPluginPolicy: policy = '', credentialPluginAllowlist: list } = preference;
  if (policy === 'DenyAll') return `credentialPluginPolicy DenyAll lets no plugin run, such as ${command}`;
  if (policy !== 'Allowlist') {
    if (list !== undefined && list !== null) return 'has credentialPluginAllowlist without the policy Allowlist';
    return ['', 'AllowAll'].includes(policy as string) ? undefined : 'has a credentialPluginPolicy that is none';
  }
  const wanted = normalize(command);
  const found = find(wanted);
  const allowed = (Array.isArray(list) ? list : []).map((one: unknown) => {
    const entry = mapOf(one);
    return textOf(entry, 'command') || textOf(entry, 'name');
  });
  const isAllowed = allowed.some(
    (entry) =>
      entry === wanted || entry === found || (basename(entry) === basename(found ?? '') && find(entry) === found),
  );
  return isAllowed && found !== undefined ? undefined : `credentialPluginAllowlist does not have ${command}`;
}

/** The program that a command starts: from `PATH`, unless it has a slash. */
export function lookPath(command: string, path: string): string | undefined {
  const places = command.includes('/') ? [command] : path.split(':').map((directory) => join(directory, command));
  return places.find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(resolve(file), constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
