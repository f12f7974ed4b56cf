import type { Field, FieldKind } from '#shared/contract/kubelet-config/fields/field.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { AMOUNTS, DURATIONS, FLAGS, NUMBERS, STRANGE, TEXTS, TIMES } from './edges.ts';
import { keysOf, wordsOf } from './keys.ts';
import type { Random } from './random.ts';

/** Every word that some field has as a value, of whichever minor. */
const WORDS: readonly string[] = [
  ...new Set([...FIELDS.values()].flatMap(({ values = [], usualValues = [] }) => [...values, ...usualValues])),
];

/** Numbers that fields are set to in earnest, so that what rests on several of them is reached. */
const SMALL = ['0', '1', '2', '3', '5', '10', '50', '80', '85', '100', '10250', '65536', '131072', '-1'];
const SPANS = ['0s', '1s', '3s', '10s', '30s', '1m', '2m', '5m', '1h', '24h', '-1s', '100ms'].map(
  (text) => `"${text}"`,
);
const SIZES = ['0', '1', '100Mi', '1Gi', '500m', '5%', '10%', '0%', '100%', '1Ki', '2', '50Mi'].map(
  (text) => `"${text}"`,
);
const PLAIN = ['a', '/x', '/kubelet.slice', '0-1', '0', 'unix:///run/x.sock', 'example.com/a', ''].map((text) =>
  JSON.stringify(text),
);

const POOLS: Readonly<Partial<Record<FieldKind, readonly [edges: readonly string[], usual: readonly string[]]>>> = {
  bool: [FLAGS, ['true', 'false']],
  int32: [NUMBERS, SMALL],
  int64: [NUMBERS, SMALL],
  uint32: [NUMBERS, SMALL],
  float: [NUMBERS, ['0.1', '0.8', '0.9', '1', '1.0', '0', '1.1']],
  duration: [DURATIONS, SPANS],
  'duration-or-nanoseconds': [
    [...DURATIONS, ...NUMBERS],
    [...SPANS, '5000000000'],
  ],
  quantity: [AMOUNTS, SIZES],
  string: [TEXTS, PLAIN],
  time: [TIMES, ['"2030-01-31T12:00:00Z"']],
};

/** How far from what people write: `edge` takes anything that has the kind's look, `usual` what makes sense somewhere. */
export type ValueKind = 'edge' | 'usual';

/** A value for a field without fields of its own, as a piece of YAML in flow style. */
export function valueFor(path: string, field: Field, manner: ValueKind, random: Random): string {
  if (random.oneIn(manner === 'edge' ? 25 : 200)) return random.pick(STRANGE);
  const [, inner, outer] = /^(.+)-(list|map)$/.exec(field.kind) ?? [];
  if (outer === 'list') return `[${many(() => itemFor(path, inner as FieldKind, field, manner, random), random)}]`;
  if (outer === 'map')
    return mapFor(path, inner === 'string-list' ? 'string' : (inner as FieldKind), field, manner, random);
  return oneFor(path, field.kind, field, manner, random);
}

const many = (make: () => string, random: Random): string =>
  Array.from({ length: random.pick([0, 1, 1, 1, 2, 2, 3]) }, make).join(', ');

function itemFor(path: string, kind: FieldKind, field: Field, manner: ValueKind, random: Random): string {
  const words = wordsOf(path) ?? field.values;
  if (words !== undefined && !random.oneIn(8))
    return kind === 'int32' ? random.pick(words) : JSON.stringify(random.pick(words));
  return random.oneIn(12) ? 'null' : oneFor(path, kind, field, manner, random);
}

function mapFor(path: string, kind: FieldKind, field: Field, manner: ValueKind, random: Random): string {
  const keys = random.some(keysOf(path), random.pick([0, 1, 1, 1, 2, 2, 3]));
  const entries = keys.map((key) => {
    const value = random.oneIn(20) ? 'null' : valueInMap(path, kind, field, manner, random);
    return `${JSON.stringify(key)}: ${field.kind === 'string-list-map' ? `[${value}]` : value}`;
  });
  return `{${entries.join(', ')}}`;
}

/** Most maps of texts hold amounts, some durations, some flags in quotes. */
function valueInMap(path: string, kind: FieldKind, field: Field, manner: ValueKind, random: Random): string {
  if (kind !== 'string' || random.oneIn(10)) return oneFor(path, kind, field, manner, random);
  if (path.endsWith('GracePeriod')) return random.pick(manner === 'edge' ? DURATIONS : SPANS);
  if (path.endsWith('Options'))
    return random.pick([
      '"true"',
      '"false"',
      '"1"',
      '"8"',
      '"7"',
      '"t"',
      '"yes"',
      '""',
      'true',
      '"9"',
      '" 8"',
      '"0x8"',
    ]);
  return random.pick(manner === 'edge' ? AMOUNTS : SIZES);
}

function oneFor(path: string, kind: FieldKind, field: Field, manner: ValueKind, random: Random): string {
  const [edges, usual] = POOLS[kind] ?? [TEXTS, PLAIN];
  const own = [...(field.values ?? []), ...(field.usualValues ?? [])];
  if (kind === 'string' && own.length > 0 && !random.oneIn(3)) return JSON.stringify(random.pick(own));
  if (kind === 'string' && random.oneIn(8)) return JSON.stringify(cased(random.pick(WORDS), random));
  if (/(?:Size|Max)$/.test(path) && kind === 'string') return random.pick(manner === 'edge' ? AMOUNTS : SIZES);
  return random.pick(manner === 'edge' ? edges : usual);
}

const cased = (word: string, random: Random): string =>
  random.pick([word, word, word.toLowerCase(), word.toUpperCase(), ` ${word}`, `${word} `, word.slice(1)]);
