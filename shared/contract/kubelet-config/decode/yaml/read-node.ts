import { MAX_DEPTH, type Read, type Report, setOwn } from '../json.ts';
import type { Marks } from '../../position.ts';
import { aliasMeter } from './alias-meter.ts';
import type { YamlMapping, YamlNode, YamlScalar } from './node-types.ts';
import { readScalar, Unreadable } from './scalar.ts';

/** The value of a parsed node as the kubelet sees it. Undefined (and reported) for none. */
export function readYamlNode(root: YamlNode, report: Report): Read | undefined {
  try {
    return nodeReader(report)(root, 0);
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    report(thrown.code, thrown.offset, thrown.message);
    return undefined;
  }
}

type ReadNode = (node: YamlNode, depth: number) => Read;

/** A map while it is filled. */
interface Filling {
  readonly value: Record<string, unknown>;
  readonly keys: Map<string, Marks>;
  /** Keys that came by `<<`. */
  readonly merged: Set<string>;
  /** Whether that was said of this map. */
  isOverridden: boolean;
}

const emptyMap = (): Filling => ({ value: {}, keys: new Map(), merged: new Set(), isOverridden: false });

const MERGE_TAG = 'tag:yaml.org,2002:merge';

function nodeReader(report: Report): ReadNode {
  const meter = aliasMeter(report);
  const open = new Set<YamlNode>();
  let isDeep = false;

  function read(node: YamlNode, depth: number): Read {
    meter.count(node.start);
    if (depth > MAX_DEPTH && !isDeep) {
      isDeep = true;
      report('too-deep', node.start, `more than ${MAX_DEPTH} levels of nesting`);
    }
    if (node.kind === 'scalar') return { value: readScalar(node, report), marks: { offset: node.start } };
    if (node.kind === 'alias') return readAlias(node, (target) => read(target, depth));
    checkTag(node);
    if (node.kind === 'mapping') return filled(fill(node, emptyMap(), depth), node);
    const items = node.items.map((item) => read(item, depth + 1));
    const marks = { offset: node.start, items: items.map((item) => item.marks) };
    return { value: items.map((item) => item.value), marks };
  }

  function readAlias<T>(node: YamlNode & { kind: 'alias' }, follow: (target: YamlNode) => T): T {
    if (open.has(node)) throw new Unreadable('yaml-alias', node.start, `the anchor &${node.name} contains itself`);
    open.add(node);
    meter.enter(node.start);
    const result = follow(node.target);
    meter.leave();
    open.delete(node);
    return result;
  }

  /** @param mergedAt where the `<<` is by which the map gets into another */
  function fill(node: YamlMapping, into: Filling, depth: number, mergedAt?: number): Filling {
    for (const [keyNode, valueNode] of node.pairs) {
      if (isMergeKey(keyNode)) {
        merge(mergedAt ?? keyNode.start, valueNode, into, depth);
        continue;
      }
      meter.count(keyNode.start);
      const key = keyOf(keyNode);
      const { value, marks } = read(valueNode, depth + 1);
      if (into.keys.has(key)) judgeSecond(key, keyNode.start, into, mergedAt);
      if (mergedAt === undefined) into.merged.delete(key);
      else into.merged.add(key);
      setOwn(into.value, key, value);
      into.keys.set(key, { ...marks, offset: keyNode.start });
    }
    return into;
  }

  /** Merged maps are laid into the same map, so that to the kubelet whatever stands both there and here is doubled. */
  function judgeSecond(key: string, start: number, into: Filling, mergedAt: number | undefined): void {
    const name = JSON.stringify(key);
    const wasMerged = into.merged.has(key);
    if (mergedAt === undefined && !wasMerged)
      return report(
        'duplicate-key',
        start,
        `${name} is there twice, and the kubelet takes the last`,
        'keep one of them',
      );
    if (mergedAt !== undefined && !wasMerged) {
      const message = `<< overrides ${name} above it for the kubelet, and for others it does not`;
      report('yaml-ambiguous', mergedAt, message, '<< first');
    }
    if (into.isOverridden) return;
    into.isOverridden = true;
    const message = `${name} is both merged and written out, which is a doubled key to the kubelet`;
    report('merge-override', mergedAt ?? start, message, 'write the map out');
  }

  function merge(at: number, source: YamlNode, into: Filling, depth: number): void {
    // Of several sources the first wins, so that they are laid down last to first.
    const sources = source.kind === 'sequence' ? source.items.toReversed() : [source];
    for (const item of sources) {
      const target = item.kind === 'alias' ? item.target : item;
      if (target.kind !== 'mapping') throw new Unreadable('yaml-alias', at, '<< takes a map or a list of maps');
      meter.count(item.start);
      if (item.kind === 'alias') readAlias(item, () => fill(target, into, depth, at));
      else fill(target, into, depth, at);
    }
  }

  function keyOf(node: YamlNode): string {
    const target = node.kind === 'alias' ? node.target : node;
    if (target.kind !== 'scalar')
      throw new Unreadable('yaml-key', node.start, 'a map or a list cannot be a key (is {{ … }} meant as text?)');
    // As sigs.k8s.io/yaml makes it text: `1` is "1", `yes` is "true".
    return String(readScalar(target, report, true));
  }

  function checkTag({ tag, kind, start }: YamlNode & { kind: 'sequence' | 'mapping' }): void {
    if (tag === '' || tag === `tag:yaml.org,2002:${kind === 'mapping' ? 'map' : 'seq'}`) return;
    report('yaml-tag', start, `the tag ${tag} means nothing to the kubelet`, 'leave it out');
  }

  return read;
}

const filled = ({ value, keys }: Filling, { start }: YamlNode): Read => ({ value, marks: { offset: start, keys } });

/** `<<`, unless it is quoted. */
function isMergeKey(node: YamlNode): node is YamlScalar {
  return node.kind === 'scalar' && node.text === '<<' && (node.isPlain || node.tag === MERGE_TAG);
}
