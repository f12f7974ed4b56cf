import type { ApplyMode } from '../api/kubelet-node.ts';
import { gateSpec } from './feature-gates/feature-gates.ts';
import { defaultOf, existsIn, FIELDS, hasUnsetZero } from './fields/fields.ts';
import { parseGoDuration } from './syntax/go-duration.ts';
import { isMap, mapOf, valueIn } from '../../runtime/maps.ts';

/**
 * A config as a kubelet of one minor version works with it: with its defaults, without the fields that it does not know,
 * null and (but for pointers) zero meaning unset. Paths are those of the table. Values of a wrong type read as undefined:
 * the types are judged elsewhere.
 */
export interface ConfigView {
  readonly minor: number;
  /** `overlay`: what the config leaves unset may come from the node's own config. */
  readonly apply: ApplyMode;
  /** Whether the config itself sets the field, or the gate in the case of `featureGates.NAME`. */
  isSet(path: string): boolean;
  /** What the kubelet works with: the config's value, or the default where that counts as unset; undefined for neither. */
  value(path: string): unknown;
  text(path: string): string | undefined;
  number(path: string): number | undefined;
  flag(path: string): boolean | undefined;
  /** Nanoseconds. */
  duration(path: string): number | undefined;
  /** Items of a list of texts; null counts as empty text there. */
  texts(path: string): readonly string[];
  /** Items of a list of whole numbers; null counts as 0 there. Undefined in the place of what is none. */
  numbers(path: string): readonly (number | undefined)[];
  /** Entries of a map of texts; null counts as empty text there too. */
  entries(path: string): readonly (readonly [string, string])[];
  /** Items of a list of structs. */
  structs(path: string): readonly Readonly<Record<string, unknown>>[];
  /** Whether a feature gate is on. */
  gate(name: string): boolean;
}

export function viewOf(config: Readonly<Record<string, unknown>>, minor: number, apply: ApplyMode): ConfigView {
  const written = (path: string): unknown => {
    const field = FIELDS.get(path);
    return field === undefined || !existsIn(field, minor) ? undefined : (valueAt(config, path) ?? undefined);
  };
  const value = (path: string): unknown => {
    const field = FIELDS.get(path);
    const own = written(path);
    const isUnset =
      own === undefined ||
      minor <= (field?.ignoredUntil ?? 0) ||
      ((field === undefined || hasUnsetZero(field, minor)) && isZero(own, field?.kind.startsWith('duration')));
    if (path === 'evictionHard' && !isUnset && apply === 'replace') return filledUp(own, written, minor);
    if (!isUnset || field === undefined || !existsIn(field, minor)) return own;
    if (field.gate !== undefined && !gate(field.gate)) return own;
    return followed(path, written, minor, apply) ?? defaultOf(field, minor) ?? own;
  };
  const gates = config['featureGates'];
  const gate = (name: string): boolean => gateIn(mapOf(gates), name, minor);
  const list = (path: string): readonly unknown[] => asList(value(path));

  return {
    minor,
    apply,
    gate,
    value,
    isSet: (path) => isSetIn(config, path, written),
    text: (path) => asText(value(path)),
    number: (path) => asNumber(value(path)),
    flag: (path) => asFlag(value(path)),
    duration: (path) => {
      const text = value(path);
      if (typeof text === 'string') return parseGoDuration(text);
      return FIELDS.get(path)?.kind === 'duration-or-nanoseconds' ? asNumber(text) : undefined;
    },
    texts: (path) => list(path).flatMap((item) => textOf(item) ?? []),
    numbers: (path) => list(path).map((item) => (item === null ? 0 : asNumber(item))),
    entries: (path) => Object.entries(mapOf(value(path))).flatMap(([key, item]) => pair(key, textOf(item))),
    structs: (path) => list(path).map(mapOf),
  };
}

/** The value at a path of the table without lists in it; undefined where there is none. */
export function valueAt(config: Readonly<Record<string, unknown>>, path: string): unknown {
  return valueIn(config, path.split('.'));
}

function isSetIn(config: Readonly<Record<string, unknown>>, path: string, written: (path: string) => unknown): boolean {
  const [gates, gate] = path.split('.');
  if (gates !== 'featureGates' || gate === undefined) return written(path) !== undefined;
  return Object.hasOwn(mapOf(config['featureGates']), gate);
}

/** AllAlpha and AllBeta speak for the gates of their stage that are not named; null in the map counts as false. */
function gateIn(gates: Readonly<Record<string, unknown>>, name: string, minor: number): boolean {
  const spec = gateSpec(name, minor);
  if (spec === undefined) return false;
  if (Object.hasOwn(gates, name)) return gates[name] === true;
  const all = spec.stage === 'alpha' ? 'AllAlpha' : spec.stage === 'beta' ? 'AllBeta' : undefined;
  return all !== undefined && Object.hasOwn(gates, all) ? gates[all] === true : spec.default;
}

/**
 * Defaults that follow another field where that is set (`SetDefaults_KubeletConfiguration`). In an overlay they were settled by the config
 * that it goes over, which is not known here.
 */
function followed(path: string, written: (path: string) => unknown, minor: number, apply: ApplyMode): unknown {
  if (apply === 'overlay') return undefined;
  if (path === 'serializeImagePulls' && minor >= 27) return !(Number(written('maxParallelImagePulls') ?? 0) > 1);
  if (path !== 'nodeStatusReportFrequency') return undefined;
  const update = written('nodeStatusUpdateFrequency');
  return isZero(update, true) ? undefined : update;
}

/** The default thresholds of signals that are not named, where the config asks for them (`loadConfigFile`, 1.33). */
function filledUp(own: unknown, written: (path: string) => unknown, minor: number): unknown {
  const field = FIELDS.get('evictionHard');
  const isAsked = field !== undefined && written('mergeDefaultEvictionSettings') === true;
  return isAsked && isMap(own) ? { ...mapOf(defaultOf(field, minor)), ...own } : own;
}

/** What Go leaves out where it is empty, but for lists and maps. */
export function isZero(value: unknown, isDuration = false): boolean {
  if (typeof value === 'string') return value === '' || (isDuration && parseGoDuration(value) === 0);
  return value === 0 || value === false;
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const asFlag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (item: unknown): string | undefined => (item === null ? '' : asText(item));

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

function pair(key: string, value: string | undefined): readonly (readonly [string, string])[] {
  return value === undefined ? [] : [[key, value]];
}
