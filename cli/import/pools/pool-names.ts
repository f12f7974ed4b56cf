import { lastPart } from './known-labels.ts';

/** Longest name that import gives; pools may have 52 characters, and a number comes behind where two are alike. */
const LONGEST = 40;
/** Longer paths of a field, such as a signal's in a map, are left to who opens the file. */
const LONGEST_PATH = 24;
const MEANS_YES: ReadonlySet<string> = new Set(['', 'true', 'yes', 'on', '1', 'enabled', 'present']);
const MEANS_NO: ReadonlySet<string> = new Set(['false', 'no', 'off', '0', 'disabled', 'absent']);
/** Last parts of keys that say nothing without what stands before them. */
const VAGUE: ReadonlySet<string> = new Set(['', 'cluster', 'enabled', 'id', 'kind', 'name', 'node', 'nodes', 'type']);

/** Any text as a DNS label of at most 40 characters, cut between words; empty where nothing of it is left. */
export function slug(text: string): string {
  const words = text
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const [first = '', ...others] = words;
  let whole = first.slice(0, LONGEST);
  for (const word of others) {
    if (whole.length + 1 + word.length > LONGEST) break;
    whole = `${whole}-${word}`;
  }
  return whole;
}

/** What a person would call nodes with this label: by its value, and by its key where the value only says yes or no. */
export function nameOfLabel(key: string, value: string): string {
  const word = value.toLowerCase();
  const plain = nameOfKey(key);
  if (MEANS_YES.has(word)) return plain;
  if (MEANS_NO.has(word)) return slug(`no-${plain}`);
  return /[a-z]/.test(word) && !isCode(word) ? slug(value) : slug(`${plain}-${value}`);
}

/** Made by a machine: 2f9c01ab. */
const isCode = (word: string): boolean => /^[0-9a-f-]{6,}$/.test(word) && /\d/.test(word);

/** `nvidia.com/gpu.present` → `gpu`, `egress.k3s.io/cluster` → `k3s-cluster`. */
function nameOfKey(key: string): string {
  const last = lastPart(key).replace(/[._-](?:present|enabled|exists)$/, '');
  if (!VAGUE.has(last)) return slug(last);
  const domain = key.includes('/') ? key.slice(0, key.indexOf('/')).split('.') : [];
  return slug(`${domain.at(-2) ?? ''}-${last}`) || 'nodes';
}

/** One name for what has these names: what they begin with, the two, or the first and how many more. */
export function nameTogether(names: readonly string[]): string {
  const [first = 'nodes', second, ...more] = [...new Set(names)];
  if (second === undefined) return first;
  const start = commonStart([first, second, ...more]);
  if (start !== '') return start;
  const together = more.length === 0 ? `${first}-and-${second}` : `${first}-and-${more.length + 1}-more`;
  return together.length <= LONGEST ? together : slug(first);
}

/** Whole words that all names begin with: `workers` of `workers-a` and `workers-b`; empty for less than three letters. */
export function commonStart(names: readonly string[]): string {
  const [first = [], ...others] = names.map((name) => name.split('-'));
  const end = first.findIndex((word, index) => others.some((words) => words[index] !== word));
  const start = (end === -1 ? first : first.slice(0, end)).join('-');
  return start.length < 3 ? '' : start;
}

/** `maxPods` → `max-pods`, `clusterDNS` → `cluster-dns`. */
const kebab = (field: string): string =>
  slug(field.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').replaceAll(/([A-Z])([A-Z][a-z])/g, '$1-$2'));

/** A value that one config has and another has not; undefined for no value. */
export interface Difference {
  readonly keys: readonly string[];
  readonly value: unknown;
}

/** A name by what distinguishes a config from another: `max-pods-250`, `max-pods-and-kube-reserved`. */
export function nameOfDifference(differences: readonly Difference[]): string {
  const [only, ...others] = differences;
  if (only === undefined) return 'nodes';
  const fields = [...new Set(differences.map(({ keys: [field = ''] }) => kebab(field)))];
  if (fields.length > 2) return slug(`${fields[0]}-and-${fields.length - 1}-more`);
  if (fields.length === 2) return slug(fields.join('-and-'));
  if (others.length > 0) return slug(fields[0] ?? '');
  const path = only.keys.map(kebab).join('-');
  if (path.length > LONGEST_PATH) return fields[0] ?? '';
  const value = only.value === undefined ? 'default' : wordOf(only.value);
  return value === '' ? path : slug(`${path}-${value}`);
}

/** A value short enough for a name; empty for all others. */
function wordOf(value: unknown): string {
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (!isScalar && typeof value !== 'bigint') return '';
  const text = String(value);
  const word = slug(text);
  return text.length <= 16 ? word : '';
}

/** Gives each name once, with a number behind a name that was given before. */
export function uniqueNames(): (wanted: string) => string {
  const taken = new Set<string>();
  return (wanted) => {
    const start = slug(wanted) || 'nodes';
    let name = start;
    for (let number = 2; taken.has(name); number += 1) name = `${start}-${number}`;
    taken.add(name);
    return name;
  };
}
