import { fieldOfFlag } from '#shared/contract/kubelet-config/fields/flags.ts';
import { REMOVED_FLAGS } from '#shared/contract/kubelet-config/fields/removed-flags.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';

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

/** Names of the flags on a command line that some kubelet no longer knows, sorted. Never their values: one is a password. */
export function removedFlags(args: readonly string[]): readonly string[] {
  const names = parseFlags(args).map(([flag]) => flag.replaceAll('_', '-'));
  return [...new Set(names)].filter((flag) => REMOVED_FLAGS.has(flag)).sort();
}

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
