import { fieldOfFlag, flagSays } from '#shared/contract/kubelet-config/fields/flags.ts';
import { REMOVED_FLAGS } from '#shared/contract/kubelet-config/fields/removed-flags.ts';
import { valueAt } from '#shared/contract/kubelet-config/config-view.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import { type Check, refuse } from '../preflight-check.ts';

/** Flags and their values in order; a flag without one is `true`. */
export function parseFlags(args: readonly string[]): readonly (readonly [flag: string, value: string])[] {
  return args.flatMap((arg, index): readonly (readonly [string, string])[] => {
    const match = /^--?([A-Za-z][\w.-]*)(?:=([^]*))?$/.exec(arg);
    if (match === null) return [];
    const [, flag = '', value] = match;
    if (value !== undefined) return [[flag, value]];
    const next = args[index + 1];
    return [[flag, next === undefined || next.startsWith('-') ? 'true' : next]];
  });
}

/** Flags of maps and lists are not laid over the config, so that where one of them is used nothing can be said. */
export const usesFlag = (args: readonly string[], ...flags: readonly string[]): boolean =>
  parseFlags(args).some(([flag]) => flags.includes(flag));

/** Names of the flags on a command line that some kubelet no longer knows, sorted. Never their values: one is a password. */
export function removedFlags(args: readonly string[]): readonly string[] {
  const names = parseFlags(args).map(([flag]) => flag.replaceAll('_', '-'));
  return [...new Set(names)].filter((flag) => REMOVED_FLAGS.has(flag)).sort();
}

/** A flag on the command line wins over every file, so that the assignment would have no effect and fail its trial. */
export const flagsOverride: Check = ({ assigned }, { kubeletArgs = [] }) =>
  parseFlags(kubeletArgs).flatMap(([flag, value]) => {
    const field = fieldOfFlag(flag);
    const wanted = field === undefined ? undefined : valueAt(assigned, field);
    if (field === undefined || wanted === undefined || wanted === null) return [];
    if (flagSays(field, value, wanted)) return [];
    const message = `the kubelet's flag --${flag}=${value} wins over ${field}: ${JSON.stringify(wanted)}`;
    return [
      refuse('flag-shadows', field, message, 'take the flag off the command line, or the field out of the config'),
    ];
  });

/** A kubelet that reads another file would never hear of the config. */
export const configIsRead: Check = ({ configFile, configDirectory, asDropIn }, { kubeletArgs, realPaths }) => {
  if (kubeletArgs === undefined) return [];
  const flags = new Map(parseFlags(kubeletArgs));
  const [flag, setting, wanted] = asDropIn
    ? (['config-dir', 'KUBELET_CONFIG_DIR', configDirectory] as const)
    : (['config', 'KUBELET_CONFIG_FILE', configFile] as const);
  // Nothing is installed into a file that the kubelet does not have.
  if (wanted === undefined) return [];
  const read = flags.get(flag);
  const real = (path: string | undefined): string | undefined => realPaths.get(path ?? '') ?? path;
  if (real(read) === real(wanted)) return [];
  const message =
    read === undefined
      ? `the kubelet of this node was started without --${flag}: it does not read ${wanted}`
      : `the kubelet of this node was started with --${flag}=${read}: it does not read ${wanted}`;
  const suggestion = read === undefined ? `start it with --${flag}=${wanted}` : `set ${setting}=${read} on the agent`;
  return [refuse('config-not-read', 'kind', message, suggestion)];
};

/**
 * A config as it works together with the flags of the command line, which win. Flags of maps and lists, and those that
 * make no sense, are left out.
 */
export function withFlags(config: Config, args: readonly string[] | undefined): Config {
  return parseFlags(args ?? []).reduce<Config>((whole, [flag, text]) => {
    const field = fieldOfFlag(flag);
    const value = field === undefined ? undefined : valueOfFlag(text, FIELDS.get(field)?.kind);
    if (field === undefined || value === undefined) return whole;
    return mergePatch(whole, patchOf(field, value)) as Config;
  }, config);
}

/** A config without the fields that flags set. Gates of a flag are laid over those of the files. */
export const withoutFlagged = (config: Config, args: readonly string[]): Config =>
  parseFlags(args).reduce<Config>((rest, [flag, text]) => {
    const field = fieldOfFlag(flag);
    if (field === undefined) return rest;
    const gates = field === 'featureGates' ? gatesOf(text) : null;
    return mergePatch(rest, patchOf(field, gates)) as Config;
  }, config);

const gatesOf = (text: string): Config =>
  Object.fromEntries(
    text
      .split(',')
      .map((gate) => gate.split('='))
      .map(([name, value]) => [name, value === 'true']),
  );

const patchOf = (field: string, value: unknown): unknown =>
  field.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);

type Config = Readonly<Record<string, unknown>>;

const NUMBERS: ReadonlySet<string | undefined> = new Set(['int32', 'int64', 'uint32', 'float']);
const TEXTS: ReadonlySet<string | undefined> = new Set(['string', 'duration']);

function valueOfFlag(text: string, kind: string | undefined): unknown {
  if (kind === 'bool') return text === 'true' ? true : text === 'false' ? false : undefined;
  if (NUMBERS.has(kind)) return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
  return TEXTS.has(kind) ? text : undefined;
}
