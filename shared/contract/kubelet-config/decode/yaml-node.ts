import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, Scalar, type YAMLMap } from 'yaml';
import { MAX_DEPTH, type Read, type Report, setOwn } from './json.ts';
import { type Scalar as ScalarValue, readPlain } from './plain-scalar.ts';
import type { Marks } from './position.ts';

/** How often aliases may be followed in one file, and how many nodes may come of it: enough to share, not to bomb. */
const MAX_ALIASES = 100;
const MAX_NODES = 20_000;

class Unreadable extends Error {}

/** The value of a parsed node as the kubelet sees it. Undefined (and reported) where it sees none. */
export function readYamlNode(root: Node, document: Document, report: Report): Read | undefined {
  try {
    return nodeReader(document, report)(root, 0);
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    return undefined;
  }
}

type ReadNode = (node: unknown, depth: number) => Read;

function nodeReader(document: Document, report: Report): ReadNode {
  let aliases = 0;
  let nodes = 0;
  const open = new Set<Node>();

  const fail = (code: string, offset: number, message: string, suggestion?: string): never => {
    report(code, offset, message, suggestion);
    throw new Unreadable(message);
  };

  function follow(node: Node): Node {
    if (!isAlias(node)) return node;
    aliases += 1;
    const target = node.resolve(document);
    if (target === undefined) return fail('yaml-alias', offsetOf(node), `there is no anchor &${node.source} above`);
    if (open.has(target)) return fail('yaml-alias', offsetOf(node), `the anchor &${node.source} contains itself`);
    if (aliases > MAX_ALIASES)
      return fail('yaml-alias', offsetOf(node), `more than ${MAX_ALIASES} aliases in one file`);
    return target;
  }

  function read(written: unknown, depth: number): Read {
    const node = follow(written as Node);
    const offset = offsetOf(written as Node);
    nodes += 1;
    if (nodes > MAX_NODES) fail('yaml-alias', offset, `more than ${MAX_NODES} nodes, aliases followed`);
    if (depth > MAX_DEPTH) fail('too-deep', offset, `more than ${MAX_DEPTH} levels of nesting`);
    open.add(node);
    const result = readOpen(node, offset, depth);
    open.delete(node);
    return result;
  }

  function readOpen(node: Node, offset: number, depth: number): Read {
    if (isScalar(node)) return { value: scalarValue(node, offset, report, fail), marks: { offset } };
    checkTag(node, isMap(node) ? 'map' : 'seq', offset, report);
    if (isSeq(node)) {
      const items = node.items.map((item) => read(item, depth + 1));
      return { value: items.map(({ value }) => value), marks: { offset, items: items.map(({ marks }) => marks) } };
    }
    if (isMap(node)) return readMap(node, offset, depth);
    return fail('yaml-syntax', offset, 'this is neither a scalar, a list nor a map');
  }

  function readMap(node: YAMLMap, offset: number, depth: number): Read {
    const value: Record<string, unknown> = {};
    const keys = new Map<string, Marks>();
    const merged = new Set<string>();
    for (const pair of node.items) {
      if (isMergeKey(pair)) {
        merge(pair, value, keys, merged, depth);
        continue;
      }
      const at = offsetOf(pair.key as Node, offset);
      const key = keyOf(follow(pair.key as Node), at, report, fail);
      if (keys.has(key) && !merged.has(key)) {
        report('duplicate-key', at, `"${key}" is there twice`, 'keep one of them');
      }
      merged.delete(key);
      const content = pair.value === null ? { value: null, marks: { offset: at } } : read(pair.value, depth + 1);
      setOwn(value, key, content.value);
      keys.set(key, { ...content.marks, offset: at });
    }
    return { value, marks: { offset, keys } };
  }

  function merge(
    pair: Pair,
    into: Record<string, unknown>,
    keys: Map<string, Marks>,
    merged: Set<string>,
    depth: number,
  ): void {
    const at = offsetOf(pair.key as Node);
    const source = pair.value === null ? undefined : follow(pair.value as Node);
    // Of several sources the first wins, so that they are laid down last to first.
    const sources = isSeq(source) ? source.items.toReversed() : [pair.value];
    for (const item of sources) {
      const content = item === null ? undefined : read(item, depth + 1);
      const from = content?.value;
      if (typeof from !== 'object' || from === null || Array.isArray(from)) {
        return fail('yaml-alias', at, '<< takes a map or a list of maps');
      }
      for (const [key, value] of Object.entries(from)) {
        if (keys.has(key) && !merged.has(key)) {
          // go-yaml v2 lets the merge win here, everyone else the key that was written out.
          report(
            'yaml-ambiguous',
            at,
            `<< overrides "${key}" above it for the kubelet, and for others it does not`,
            '<< first',
          );
        }
        setOwn(into, key, value);
        merged.add(key);
        keys.set(key, content?.marks.keys?.get(key) ?? { offset: at });
      }
    }
  }

  return read;
}

type Fail = (code: string, offset: number, message: string, suggestion?: string) => never;

function isMergeKey(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.type === Scalar.PLAIN && pair.key.value === '<<' && pair.key.tag === undefined;
}

/** Map keys become text as sigs.k8s.io/yaml makes it: `1` is "1", `yes` is "true". */
function keyOf(node: Node, offset: number, report: Report, fail: Fail): string {
  if (!isScalar(node)) return fail('yaml-key', offset, 'a map or a list cannot be a key');
  const value = scalarValue(node, offset, report, fail);
  if (value === null) return fail('yaml-key', offset, 'a key cannot be null');
  return String(value);
}

function scalarValue(node: Scalar, offset: number, report: Report, fail: Fail): ScalarValue {
  const text = typeof node.value === 'string' ? node.value : '';
  const tag = standardTag(node.tag);
  if (tag === undefined) {
    report('yaml-tag', offset, `the tag ${node.tag} means nothing to the kubelet`, 'leave it out');
    return text;
  }
  if (tag === 'str' || (tag === '' && node.type !== Scalar.PLAIN)) return wellFormed(text, offset, fail);
  const { value, elsewhere } = readPlain(text);
  if (value === undefined) return fail('number-not-finite', offset, `JSON, and with it the kubelet, has no ${text}`);
  if (tag !== '' && tag !== typeTag(value) && !(tag === 'float' && typeTag(value) === 'int')) {
    return fail('yaml-tag', offset, `${JSON.stringify(text)} is no !!${tag}`);
  }
  if (elsewhere !== undefined && tag === '') {
    const suggestion = `write ${show(value)} if that is meant, or ${JSON.stringify(text)} in quotes`;
    report(
      'yaml-ambiguous',
      offset,
      `${text} is ${show(value)} to the kubelet and ${show(elsewhere)} to others`,
      suggestion,
    );
  }
  return typeof value === 'string' ? wellFormed(value, offset, fail) : value;
}

const show = (value: ScalarValue): string =>
  typeof value === 'string' ? `the text ${JSON.stringify(value)}` : String(value);

function wellFormed(text: string, offset: number, fail: Fail): string {
  return text.isWellFormed() ? text : fail('not-utf8', offset, 'half of a surrogate pair is no character');
}

/** `''` where there is none, `undefined` where it is not one of those whose meaning is the same everywhere. */
function standardTag(tag: string | undefined): string | undefined {
  if (tag === undefined) return '';
  if (tag === '!') return 'str';
  const name = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/.exec(tag)?.[1];
  return name;
}

function typeTag(value: ScalarValue): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int' : 'float';
}

function checkTag(node: Node, expected: 'map' | 'seq', offset: number, report: Report): void {
  const tag = standardTag('tag' in node ? node.tag : undefined);
  if (tag === '' || tag === expected) return;
  report('yaml-tag', offset, `the tag on this ${expected} means nothing to the kubelet`, 'leave it out');
}

function offsetOf(node: Node | null, otherwise = 0): number {
  return node?.range?.[0] ?? otherwise;
}
