import { isDeepStrictEqual } from 'node:util';
import { Document, isCollection, type Node, stringify } from 'yaml';
import type { Paint } from '../paint.ts';
import type { EffectiveValue } from './effective-values.ts';

/** As a file that the kubelet would read, each value with its origin in a comment. */
export function effectiveAsYaml(leaves: readonly EffectiveValue[]): string {
  const document = new Document({});
  for (const { keys, value, origin } of leaves) {
    const node = document.createNode(value) as Node;
    if (isCollection(node)) node.flow = true;
    node.comment = ` ${origin}`;
    document.setIn(keys, node);
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** What two revisions render differently, value by value, as `diff` marks lines. */
export function differenceOf(
  before: readonly EffectiveValue[],
  after: readonly EffectiveValue[],
  paint: Paint,
): string {
  const [old, now] = [byPath(before), byPath(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  const lines = paths.flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was !== undefined && is !== undefined && isDeepStrictEqual(was.value, is.value)) return [];
    return [
      ...(was === undefined ? [] : [paint('bad', `-${lineOf(was)}`)]),
      ...(is === undefined ? [] : [paint('good', `+${lineOf(is)}`)]),
    ];
  });
  return lines.map((line) => `${line}\n`).join('');
}

const byPath = (leaves: readonly EffectiveValue[]): ReadonlyMap<string, EffectiveValue> =>
  new Map(leaves.map((leaf) => [nameOf(leaf), leaf] as const));

const nameOf = ({ keys }: EffectiveValue): string => keys.join('.');

const lineOf = (leaf: EffectiveValue): string =>
  `${nameOf(leaf)}: ${stringify(leaf.value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd()}  # ${leaf.origin}`;
