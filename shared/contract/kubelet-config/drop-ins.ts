import { setOwn } from './decode/json.ts';
import { touches, withOwnDefaults } from './effective.ts';
import type { FieldKind } from './fields/field.ts';
import { childrenOf, defaultOf, existsIn, FIELDS, hasUnsetZero } from './fields/fields.ts';
import { mergePatch } from './merge.ts';
import { minorName, minorNumber, NEWEST_MINOR } from './minor.ts';
import { foldCase } from './syntax/fold-case.ts';
import { parseGoDuration } from './syntax/go-duration.ts';
import { type ConfigView, viewOf } from './config-view.ts';
import { withoutUnknownFields } from './tolerance.ts';
import { isMap } from '../../runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

/** Kubelets before 1.28 know no `--config-dir` (KEP-3983). */
export const FIRST_MINOR_WITH_DROP_INS = 28;

/** From 1.32 on a drop-in is a merge patch on the file, and means what an overlay means. */
export const FIRST_MINOR_THAT_PATCHES = 32;

/**
 * What a kubelet starts from that has a `--config-dir` and no `--config`: the defaults of its flags (`applyLegacyDefaults`), and
 * no thresholds, which only a file brings.
 */
export const NO_FILE: Config = {
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  evictionHard: {},
  readOnlyPort: 10_255,
};

/**
 * The config that a kubelet makes of its file and of the files in its `--config-dir` (`mergeKubeletConfigurations`). There
 * were three ways:
 *
 * - 1.28 lays each drop-in *with its defaults* over what is below, and zero never wins: what the drop-in does not name goes back to its
 *   default.
 * - 1.29 to 1.31 decode them over the config in memory: null does nothing, zero is no default but zero, items of lists of maps
 *   keep what the item before them had, and `resolvConf` goes by another name.
 * - From 1.32 on they are merge patches, and defaults are put in again.
 *
 * @param file   as `decodeKubeletConfig` reads it; `NO_FILE` for none
 * @param layers drop-ins in the kubelet's order, nulls included
 * @param minor  the kubelet's version: `1.34`, `v1.34.2`
 * @returns the same as one file; of 1.29 to 1.31 a zero that a drop-in sets stands for itself (`literalZeros`)
 */
export function withDropIns(file: Config, layers: readonly Config[], minor: string): Config {
  const version = Math.min(minorNumber(minor) ?? NEWEST_MINOR, NEWEST_MINOR);
  if (layers.length === 0 || version < FIRST_MINOR_WITH_DROP_INS) return file;
  if (version === 28) return layers.reduce((config, layer) => mergeNonZero(config, layer, file), file);
  const patches = layers.map((layer) => withoutNullsInItems(layer) as Config);
  return version < FIRST_MINOR_THAT_PATCHES ? decodeOver(file, patches, version) : patch(file, patches, version);
}

/** From 1.32 on. Of the file, all that is not empty stands in the text that is patched, defaults too. */
function patch(file: Config, patches: readonly Config[], minor: number): Config {
  const own = withoutZeros(file, '', minor);
  const base = structuredClone(withOwnDefaults(own, touchedBy(patches), minorName(minor)));
  const view = viewOf(own, minor, 'replace');
  for (const path of patches.flatMap((layer) => [...miscasedIn(layer, '')])) {
    // An empty list has no default before it is patched.
    if (!Array.isArray(file[path]) || !isEmpty(file[path])) fillIn(base, path, view);
  }
  const patched = patches.reduce<Config>((config, layer) => mergePatch(config, layer) as Config, base);
  const { mergeDefaultEvictionSettings, ...result } = decodeStruct({}, patched, '', minor);
  // Nothing brings the default thresholds back once the drop-ins are merged: what is gone then stays off.
  if (!touches(touchedBy(patches), 'evictionHard', 'mergeDefaultEvictionSettings'))
    return mergeDefaultEvictionSettings === undefined ? result : { ...result, mergeDefaultEvictionSettings };
  return { ...result, evictionHard: result['evictionHard'] ?? {} };
}

/** One patch that names all fields that some of several name. */
const touchedBy = (patches: readonly Config[]): Config =>
  patches.length === 1
    ? (patches[0] ?? {})
    : Object.fromEntries(patches.flatMap((layer) => Object.keys(layer)).map((key) => [key, null]));

/** Whether a kubelet of this minor takes a zero of a drop-in for zero, and not for the default. */
export const hasLiteralZeros = (minor: number): boolean =>
  minor > FIRST_MINOR_WITH_DROP_INS && minor < FIRST_MINOR_THAT_PATCHES;

/** 1.29 to 1.31. */
function decodeOver(file: Config, patches: readonly Config[], minor: number): Config {
  const patch = patches.reduce<Config>((below, layer) => mergePatch(below, layer) as Config, {});
  const base = withOwnDefaults(withoutZeros(file, '', minor), touchedBy(patches), minorName(minor));
  return decodeStruct(base, patch, '', minor);
}

/**
 * `json.Unmarshal` of Go into a struct that has values: names in any case, in the order of their bytes, the last one wins; null changes
 * nothing about a plain field. Names that the table does not know are dropped.
 *
 * @param isPatched whether it was merged into the text of the config in memory, which has all names as Go has them: what is sorted before
 *   one of them is decoded before it, and counts for nothing
 */
function decodeStruct(
  old: Config,
  json: Config,
  path: string,
  minor: number,
  isPatched = path === '',
): Record<string, unknown> {
  const result: Record<string, unknown> = { ...old };
  for (const key of Object.keys(json).toSorted()) {
    const name = fieldOfKey(key, path, minor);
    if (path === '' && (key === 'apiVersion' || key === 'kind')) result[key] = json[key];
    if (name === undefined) continue;
    const below = path === '' ? name : `${path}.${name}`;
    const kind = FIELDS.get(below)?.kind;
    if (kind === undefined) continue;
    const old = result[name];
    const inText = goName(below === 'resolvConf' ? 'resolverConfig' : name);
    const isOverwritten = isPatched && minor < FIRST_MINOR_THAT_PATCHES && key < inText;
    const value = isOverwritten
      ? mixed(json[key], old, kind)
      : decodeValue(old, json[key], kind, below, minor, isPatched && key === inText);
    if (value === undefined) delete result[name];
    else setOwn(result, name, value);
  }
  return result;
}

function decodeValue(
  old: unknown,
  json: unknown,
  kind: FieldKind,
  path: string,
  minor: number,
  isPatched: boolean,
): unknown {
  if (kind === 'struct' && isMap(json)) return decodeStruct(isMap(old) ? old : {}, json, path, minor, isPatched);
  if (kind.endsWith('-map') && isMap(json)) return { ...(isMap(old) ? old : {}), ...json };
  if (Array.isArray(json)) {
    const items: readonly unknown[] = Array.isArray(old) ? old : [];
    return json.map((item, index) => {
      const before = items[index];
      return isMap(item)
        ? decodeStruct(isMap(before) ? before : {}, item, `${path}[]`, minor)
        : (item ?? before ?? null);
    });
  }
  return json ?? (kind.endsWith('-list') || kind.endsWith('-map') ? undefined : old);
}

/** Before 1.32 it is the Go name that counts. */
function fieldOfKey(key: string, path: string, minor: number): string | undefined {
  const folded = foldCase(key);
  const isResolv = path === '' && minor < FIRST_MINOR_THAT_PATCHES && /^resol(vconf|verconfig)$/.test(folded);
  if (isResolv) return folded === 'resolverconfig' ? 'resolvConf' : undefined;
  return childrenOf(path).find((name) => foldCase(name) === folded);
}

/** Into maps, both are decoded. */
const mixed = (json: unknown, old: unknown, kind: FieldKind): unknown =>
  kind.endsWith('-map') && isMap(json) && isMap(old) ? { ...json, ...old } : old;

/** As the kubelet's internal type has it. */
const goName = (name: string): string =>
  name.replace(/^(tls|oom|cpu|qos|http|iptables|[a-z])/, (start) =>
    start === 'iptables' ? 'IPTables' : start.toUpperCase(),
  );

/** The paths of the table that a drop-in writes in another case. */
function* miscasedIn(config: Config, path: string): Generator<string> {
  for (const [key, value] of Object.entries(config)) {
    const name = childrenOf(path).find((each) => foldCase(each) === foldCase(key));
    if (name === undefined) continue;
    const below = path === '' ? name : `${path}.${name}`;
    if (name !== key) yield below;
    if (FIELDS.get(below)?.kind === 'struct' && isMap(value)) yield* miscasedIn(value, below);
  }
}

/** Writes the defaults of a field out, and of all fields that are in it. */
function fillIn(config: Record<string, unknown>, path: string, view: ConfigView): void {
  const field = FIELDS.get(path);
  if (field?.kind === 'struct') for (const name of childrenOf(path)) fillIn(config, `${path}.${name}`, view);
  // Thresholds are there already.
  else if (field !== undefined && path !== 'evictionHard') {
    // A pointer in files only: it is never left out.
    const zero = path === 'enableSystemLogQuery' ? false : undefined;
    put(config, path.split('.'), view.value(path) ?? zero);
  }
}

/** The kubelet's text leaves out what is empty. Before 1.32 there is no such text, and lists and maps stay as they are. */
function withoutZeros(config: Config, path: string, minor: number): Record<string, unknown> {
  const kept = Object.entries(config).flatMap(([name, value]) => {
    const below = path === '' ? name : `${path}.${name}`;
    const field = FIELDS.get(below);
    if (field?.kind === 'struct' && isMap(value)) return [[name, withoutZeros(value, below, minor)] as const];
    const isMany = /-(?:list|map)$/.test(field?.kind ?? '');
    if (isMany && (minor < FIRST_MINOR_THAT_PATCHES || below === 'evictionHard')) return [[name, value] as const];
    const isZero =
      isEmpty(value) || (field?.kind.startsWith('duration') === true && parseGoDuration(String(value)) === 0);
    const isLeftOut = isZero && (isMany || (field !== undefined && hasUnsetZero(field, minor)));
    return isLeftOut ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}

/** Of lists, jsonpatch drops the nulls that are in maps. */
function withoutNullsInItems(value: unknown, isInList = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNullsInItems(item, true));
  if (!isMap(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => !isInList || item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNullsInItems(item, isInList)]));
}

/** 1.28: mergo, with the drop-in's own defaults in it. Thresholds of a file that has none are the defaults themselves from then on. */
function mergeNonZero(config: Config, layer: Config, file: Config): Config {
  const result: Record<string, unknown> = structuredClone(config);
  const known = withoutUnknownFields(layer);
  const [below, above] = [viewOf(config, 28, 'replace'), viewOf(known, 28, 'replace')];
  // A pointer, and copied as one.
  if (isMap(known['tracing'])) result['tracing'] = known['tracing'];
  for (const [path, field] of FIELDS) {
    if (/\[|^tracing/.test(path) || field.kind === 'struct' || !existsIn(field, 28)) continue;
    const value = mergedAt(path, field.kind, below, above, (file['evictionHard'] ?? undefined) === undefined);
    if (value === undefined) continue;
    const isDefault = !FOLLOWING.has(path) && value === defaultOf(field, 28);
    put(result, path.split('.'), isDefault ? undefined : value);
  }
  return result;
}

const FOLLOWING: ReadonlySet<string> = new Set(['serializeImagePulls', 'nodeStatusReportFrequency']);

/** Fields that are pointers in the kubelet's internal type too: zero wins. */
const INTERNAL_POINTERS: ReadonlySet<string> = new Set(['maxParallelImagePulls', 'memoryThrottlingFactor']);

function mergedAt(
  path: string,
  kind: FieldKind,
  below: ConfigView,
  above: ConfigView,
  sharesDefaults: boolean,
): unknown {
  const value = above.value(path);
  if (kind.endsWith('-map')) {
    const layer = path === 'evictionHard' && sharesDefaults && !above.isSet(path) ? undefined : value;
    const both = { ...mapOf(below.value(path)), ...mapOf(layer) };
    return isMap(layer) ? both : undefined;
  }
  // Its fields are not to be seen from outside of its package.
  if (kind === 'quantity') return undefined;
  const wins = INTERNAL_POINTERS.has(path)
    ? value !== undefined
    : !isEmpty(value) && !(kind.startsWith('duration') && above.duration(path) === 0);
  if (wins) return value;
  return FOLLOWING.has(path) ? below.value(path) : undefined;
}

function put(config: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    if (value === undefined) delete config[name];
    else setOwn(config, name, value);
    return;
  }
  const inner = config[name];
  if (!isMap(inner) && value === undefined) return;
  const copy: Record<string, unknown> = isMap(inner) ? inner : {};
  config[name] = copy;
  put(copy, rest, value);
}

const mapOf = (value: unknown): Config => (isMap(value) ? value : {});

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === 0 ||
    value === false ||
    value === '' ||
    (Array.isArray(value) && value.length === 0) ||
    (isMap(value) && Object.keys(value).length === 0)
  );
}
