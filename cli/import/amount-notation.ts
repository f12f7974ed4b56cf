import { canonicalAmount } from '#shared/contract/kubelet-config/canonical-amount.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { isMap } from '#shared/runtime/maps.ts';

/** Is given the keys that lead to an amount, what it means, and how it is written; returns what takes its place. */
type Replace = (keys: readonly string[], amount: string, written: unknown) => unknown;

function replaced(value: unknown, pattern: string, keys: readonly string[], replace: Replace): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => replaced(item, `${pattern}[]`, [...keys, String(index)], replace));
  if (isMap(value)) {
    const below = (name: string): string =>
      pattern === '' ? name : isStruct(pattern) ? `${pattern}.${name}` : pattern;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, replaced(item, below(name), [...keys, name], replace)]),
    );
  }
  const amount = canonicalAmount(value, pattern);
  return amount === undefined ? value : replace(keys, amount, value);
}

const isStruct = (pattern: string): boolean => pattern.endsWith('[]') || FIELDS.get(pattern)?.kind === 'struct';

/**
 * The same value with every duration and quantity in it as what the kubelet reads: equal for what means the same, not fit for a file.
 *
 * @param pattern the table's path of the field
 */
export const meaningOf = (value: unknown, pattern: string): unknown =>
  replaced(value, pattern, [], (_, amount) => amount);

/**
 * The same nodes with one spelling for each amount at each place: the one that most of them have; of equally common ones, the first by
 * code units. So `1m` and `1m0s` are no difference between nodes. Pure.
 */
export function inOneNotation<T extends { readonly config: Readonly<Record<string, unknown>> }>(
  nodes: readonly T[],
): readonly T[] {
  const counts = new Map<string, Map<unknown, number>>();
  // Nodes may share what they run.
  const byConfig = Map.groupBy(nodes, ({ config }) => config);
  for (const [config, { length }] of byConfig) {
    replaced(config, '', [], (keys, amount, written) => {
      const spellings = counts.get(placeOf(keys, amount)) ?? new Map<unknown, number>();
      counts.set(placeOf(keys, amount), spellings.set(written, (spellings.get(written) ?? 0) + length));
      return written;
    });
  }
  const chosen = new Map([...counts].map(([place, spellings]) => [place, mostUsed(spellings)] as const));
  const alike = new Map(
    [...byConfig.keys()].map((config) => {
      const written = replaced(config, '', [], (keys, amount) => chosen.get(placeOf(keys, amount)));
      return [config, isMap(written) ? written : config] as const;
    }),
  );
  return nodes.map((node) => ({ ...node, config: alike.get(node.config) ?? node.config }));
}

const placeOf = (keys: readonly string[], amount: string): string => JSON.stringify([...keys, amount]);

const mostUsed = (spellings: ReadonlyMap<unknown, number>): unknown =>
  [...spellings].sort(([a, times], [b, others]) => others - times || (String(a) < String(b) ? -1 : 1))[0]?.[0];
