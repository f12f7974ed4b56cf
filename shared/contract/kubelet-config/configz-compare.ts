import { canonicalAmount } from './canonical-amount.ts';
import { defaultOf, existsIn, FIELDS } from './fields/fields.ts';
import { minorNumber, NEWEST_MINOR } from './minor.ts';
import type { Field } from './fields/field.ts';
import { parseGoDuration } from './syntax/go-duration.ts';
import { parseQuantity, trimmedQuantity } from './syntax/quantity.ts';
import { isMap } from '../../runtime/maps.ts';
import { REDACTED, redact } from '../../runtime/redact.ts';
import { writtenFields } from './written-fields.ts';

type Json = Readonly<Record<string, unknown>>;

/** What the kubelet shows otherwise than the payload says, without any fault of either. */
const NOT_FROM_THE_FILE: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'logging.options.json.splitStream',
  'logging.options.text.splitStream',
  // An instruction for the load, already carried out where the payload was merged into the config file.
  'mergeDefaultEvictionSettings',
]);

/** Relative paths in these are resolved against the folder of the kubelet's config file. */
const PATHS: ReadonlySet<string> = new Set([
  'staticPodPath',
  'tlsCertFile',
  'tlsPrivateKeyFile',
  'authentication.x509.clientCAFile',
  'resolvConf',
  'volumePluginDir',
  'podLogsDir',
]);

/** Maps whose texts the kubelet takes for quantities, and shows as they were written: `1024Mi` is what `1Gi` is. */
const AMOUNTS: ReadonlySet<string> = new Set([
  'kubeReserved',
  'systemReserved',
  'evictionHard',
  'evictionSoft',
  'evictionMinimumReclaim',
]);

/**
 * Where the running kubelet's config (`kubeletconfig` of /configz) is not what a payload says. Every field that the
 * payload sets has to be there as the kubelet writes it: `10m` as `10m0s`, `1024Mi` as `1Gi`. Fields that the payload
 * takes back (null) may be anything, and so may plain fields that it sets to zero, as the kubelet fills those in. Maps
 * are compared by key, lists whole. Fields that this kubelet's version does not know say nothing: it drops them, which
 * was tolerated, or it was exchanged under the config.
 *
 * @param minor the kubelet's version (`v1.34.2`), as far as it is known
 * @returns one phrase a difference: `maxPods=110 instead of 250`
 */
export function contradictions(payload: Json, running: Json, minor?: string): readonly string[] {
  const number = minorNumber(minor ?? '');
  const isKnown = (field: Field, value: unknown): boolean => {
    if (number === undefined) return true;
    const isFilledIn = number < (field.pointerSince ?? 0) && isZero(value);
    const isRead = existsIn(field, Math.min(number, NEWEST_MINOR)) && number > (field.ignoredUntil ?? 0);
    return isRead && !isFilledIn;
  };
  return [...compareStruct(payload, running, '', isKnown)];
}

/**
 * Fields that the node's own config sets and the running kubelet has at their defaults: what was laid over it reset them.
 *
 * @param whole   what the files are to come to
 * @param payload what of it is compared anyway
 * @returns one phrase a field, as `contradictions` has it
 */
export function resets(whole: Json, payload: Json, running: Json, minor: string): readonly string[] {
  const number = Math.min(minorNumber(minor) ?? NEWEST_MINOR, NEWEST_MINOR);
  return [...writtenFields(whole)].flatMap(({ path, pattern, field, value }) => {
    const normal = defaultOf(field, number);
    // The runtime may have the last word on the cgroup driver.
    if (pattern.includes('[') || field.kind === 'struct' || normal === undefined || pattern === 'cgroupDriver')
      return [];
    const alone = (meant: unknown): Json =>
      path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), meant) as Json;
    if (Object.hasOwn(payload, path[0] ?? '') || contradictions(alone(normal), running, minor).length > 0) return [];
    return contradictions(alone(value), running, minor);
  });
}

function* compareStruct(
  meant: Json,
  running: Json,
  path: string,
  isKnown: (field: Field, value: unknown) => boolean,
): Generator<string> {
  for (const [name, value] of Object.entries(meant)) {
    const at = path === '' ? name : `${path}.${name}`;
    const field = FIELDS.get(at);
    if (value === null || value === undefined || NOT_FROM_THE_FILE.has(at)) continue;
    if (field !== undefined && !isKnown(field, value)) continue;
    const seen = Object.hasOwn(running, name) ? running[name] : undefined;
    if (isMap(value) && (isMap(seen) || seen === undefined)) {
      if (field === undefined || field.kind === 'struct') yield* compareStruct(value, seen ?? {}, at, isKnown);
      else yield* compareMap(value, seen ?? {}, at, field);
    } else if (!isSame(value, seen, field, at)) {
      yield differs(at, value, seen);
    }
  }
}

/** A map that people write the keys of: gates, eviction signals, reservations. null means nothing there, or false. */
function* compareMap(meant: Json, running: Json, path: string, field: Field): Generator<string> {
  for (const [key, value] of Object.entries(meant)) {
    const seen = Object.hasOwn(running, key) ? running[key] : undefined;
    const item: Field = field.kind === 'quantity-map' ? { ...field, kind: 'quantity' } : { ...field, pointer: true };
    if (value === null || isSame(value, seen, item, path) || (AMOUNTS.has(path) && isSameSize(value, seen))) continue;
    yield differs(`${path}[${JSON.stringify(key)}]`, value, seen);
  }
}

function isSame(meant: unknown, seen: unknown, field: Field | undefined, path: string): boolean {
  // In a text, 0 is not nothing.
  const isText = field?.kind === 'string' && meant !== '';
  if (isZero(meant) && !isText) return isZero(seen ?? null) || mayBeFilledIn(field, meant);
  if (seen === undefined) return false;
  if (field?.kind === 'duration' || field?.kind === 'duration-or-nanoseconds') {
    return nanoseconds(meant) !== undefined && nanoseconds(meant) === nanoseconds(seen);
  }
  if (field?.kind === 'quantity') return shownSize(meant) === shownSize(seen);
  if (PATHS.has(path) && isResolved(meant, seen)) return true;
  const amount = canonicalAmount(meant, path);
  if (amount !== undefined && amount === canonicalAmount(seen, path)) return true;
  return isEqual(meant, seen) || isAnyNegative(path, meant, seen);
}

/** Zero means unset in plain fields, so the kubelet's default or the node's own value takes its place; not in pointers. */
function mayBeFilledIn(field: Field | undefined, zero: unknown): boolean {
  if (field === undefined) return true;
  return field.pointer !== true && (zero !== false || field.default !== undefined);
}

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isMap(value)) return Object.values(value).every(isZero);
  if (typeof value === 'string') return value === '' || parseGoDuration(value) === 0;
  return value === 0 || value === false || value === null || value === 0n;
}

/** Numbers by value, whatever JSON made of them; lists in order; what a list's maps leave out is zero. */
function isEqual(meant: unknown, seen: unknown): boolean {
  if (Array.isArray(meant) && Array.isArray(seen)) {
    return meant.length === seen.length && meant.every((item, index) => isItem(item, seen[index]));
  }
  if (isMap(meant) && isMap(seen)) {
    return [...new Set([...Object.keys(meant), ...Object.keys(seen)])].every((key) => isAlike(meant[key], seen[key]));
  }
  if (typeof meant === 'bigint' || typeof seen === 'bigint') return String(meant) === String(seen);
  return meant === seen;
}

/** In a list null is what the item would be without a value. */
const isItem = (meant: unknown, seen: unknown): boolean =>
  isEqual(meant, seen) || (meant === null && isZero(seen ?? null));

function isAlike(meant: unknown, seen: unknown): boolean {
  if (isEqual(meant, seen) || (isZero(meant ?? null) && isZero(seen ?? null))) return true;
  const [meantSpan, seenSpan] = [nanoseconds(meant), nanoseconds(seen)];
  return (meantSpan !== undefined && meantSpan === seenSpan) || isSameSize(meant, seen);
}

/** The kubelet rounds the amounts of resources up to thousandths. */
function isSameSize(meant: unknown, seen: unknown): boolean {
  const [size, shown] = [sizeOf(meant), sizeOf(seen)];
  if (size === undefined || shown === undefined) return false;
  return size === shown || Math.ceil(size * 1000) === Math.round(shown * 1000);
}

function nanoseconds(value: unknown): number | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  return typeof value === 'string' ? parseGoDuration(value) : undefined;
}

function sizeOf(value: unknown): number | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value);
  return typeof value === 'string' ? parseQuantity(trimmedQuantity(value)) : undefined;
}

/** Of a field that is one quantity, the kubelet shows no more than 64 bits. */
function shownSize(value: unknown): number | undefined {
  const size = sizeOf(value);
  return size === undefined ? undefined : Math.min(size, 2 ** 63);
}

function isResolved(meant: unknown, seen: unknown): boolean {
  if (typeof meant !== 'string' || typeof seen !== 'string' || meant.startsWith('/') || !seen.startsWith('/'))
    return false;
  const below: string[] = [];
  for (const step of meant.split('/')) {
    // What is above the folder of the file is unknown here.
    if (step === '..') below.pop();
    else if (step !== '' && step !== '.') below.push(step);
  }
  return seen.endsWith(['', ...below].join('/'));
}

/** The kubelet turns any negative limit of PIDs into -1: no limit. */
const isAnyNegative = (path: string, meant: unknown, seen: unknown): boolean =>
  path === 'podPidsLimit' && (typeof meant === 'number' || typeof meant === 'bigint') && meant < 0 && seen === -1;

/** Phrases reach statuses and reports, which more people read than the config. */
function differs(path: string, meant: unknown, seen: unknown): string {
  const isSecret = path.startsWith('staticPodURLHeader');
  return `${path}=${show(seen, isSecret)} instead of ${show(meant, isSecret)}`;
}

function show(value: unknown, isSecret: boolean): string {
  if (value === undefined) return 'nothing';
  if (isSecret) return REDACTED;
  const text = typeof value === 'bigint' ? String(value) : redact(JSON.stringify(value));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
