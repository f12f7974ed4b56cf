import { YamlSyntaxError } from './cursor.ts';
import type { YamlNode, YamlScalar } from './node-types.ts';
import { tokensOf } from './scanner.ts';
import { createTagHandles } from './tag-handles.ts';
import type { Token, WrittenTag } from './tokens.ts';

/** Deepest nesting that is followed. The kubelet goes further, but a KubeletConfiguration needs six levels. */
const MAX_YAML_DEPTH = 500;

interface FirstDocument {
  /** Absent where there is nothing in the text but comments. */
  readonly root?: YamlNode;
  /** Where a second document begins, which the kubelet does not look at. */
  readonly second?: number;
  /** How far the text was looked at for the first one. */
  readonly readAhead: number;
}

type Mutable<T> = { -readonly [key in keyof T]: T[key] };

/**
 * Reads the first document of a text, in the order and with the leniencies of go-yaml v2.
 *
 * @throws YamlSyntaxError
 */
export function parseFirstDocument(text: string): FirstDocument {
  const tokens = tokensOf(text);
  const anchors = new Map<string, YamlNode>();
  const tags = createTagHandles();

  const type = (): Token['type'] => tokens.peek().type;
  const isNext = (...types: readonly Token['type'][]): boolean => types.includes(type());
  const fail = (message: string, offset = tokens.peek().start): never => {
    throw new YamlSyntaxError(message, offset);
  };
  const take = (): Token => {
    const token = tokens.peek();
    tokens.skip();
    return token;
  };
  const nothing = (start: number): YamlScalar => ({ kind: 'scalar', text: '', tag: '', isPlain: true, start });

  function document(): YamlNode | undefined {
    if (isNext('stream-end')) return undefined;
    if (!isNext('directive', 'document-start')) {
      return node(true, false, 0);
    }
    tags.read(tokens);
    if (!isNext('document-start')) fail('after directives the document begins with ---');
    const { start } = take();
    if (isNext('directive', 'document-start', 'document-end', 'stream-end')) return nothing(start);
    return node(true, false, 0);
  }

  /**
   * @param block whether block collections may begin here
   * @param indentless whether a list may, without being indented
   */
  function node(block: boolean, indentless: boolean, depth: number): YamlNode {
    if (depth > MAX_YAML_DEPTH) throw new TooDeep(tokens.peek().start);
    const first = tokens.peek();
    if (first.type === 'alias') return alias(take() as Token & { type: 'alias' });
    const { anchor, tag: written } = properties();
    const tag = written === undefined ? '' : tags.longTag(written, first.start);
    const place = { tag, start: first.start };
    const token = tokens.peek();
    const made = content(token, place, block, indentless, depth, anchor);
    if (made !== undefined) return made;
    if (anchor === undefined && tag === '') return fail('there is no value here');
    return known(anchor, { kind: 'scalar', text: '', tag, isPlain: tag === '', start: first.start });
  }

  /** Anchors are known before what they stand for is complete, as it may hold aliases of itself. */
  function known<T extends YamlNode>(anchor: string | undefined, made: T): T {
    if (anchor !== undefined) anchors.set(anchor, made);
    return made;
  }

  function content(
    token: Token,
    place: { readonly tag: string; readonly start: number },
    block: boolean,
    indentless: boolean,
    depth: number,
    anchor: string | undefined,
  ): YamlNode | undefined {
    if (token.type === 'scalar') {
      tokens.skip();
      const isPlain = (place.tag === '' && token.isPlain) || place.tag === '!';
      return known(anchor, { kind: 'scalar', text: token.text, isPlain, ...place });
    }
    const isList = token.type === 'flow-sequence-start' || (block && token.type === 'block-sequence-start');
    if (isList || (indentless && token.type === 'block-entry')) {
      const items: YamlNode[] = [];
      const list = known(anchor, { kind: 'sequence', items, ...place });
      if (token.type === 'flow-sequence-start') flowSequence(items, depth + 1);
      else if (token.type === 'block-sequence-start') blockSequence(items, depth + 1);
      else indentlessSequence(items, depth + 1);
      return list;
    }
    if (token.type !== 'flow-mapping-start' && !(block && token.type === 'block-mapping-start')) return undefined;
    const pairs: [YamlNode, YamlNode][] = [];
    const map = known(anchor, { kind: 'mapping', pairs, ...place });
    if (token.type === 'flow-mapping-start') flowMapping(pairs, depth + 1);
    else blockMapping(pairs, depth + 1);
    return map;
  }

  function alias({ name, start }: Token & { type: 'alias' }): YamlNode {
    const target = anchors.get(name);
    if (target === undefined) throw new UnknownAnchor(`there is no anchor &${name} above`, start);
    return { kind: 'alias', name, target, start };
  }

  function properties(): { readonly anchor?: string; readonly tag?: WrittenTag } {
    const found: { anchor?: string; tag?: WrittenTag } = {};
    for (let token = tokens.peek(); ; token = tokens.peek()) {
      if (token.type === 'anchor' && found.anchor === undefined) found.anchor = token.name;
      else if (token.type === 'tag' && found.tag === undefined) found.tag = token.tag;
      else return found;
      tokens.skip();
    }
  }

  function blockSequence(items: YamlNode[], depth: number): void {
    tokens.skip();
    while (isNext('block-entry')) {
      const { start } = take();
      items.push(isNext('block-entry', 'block-end') ? nothing(start + 1) : node(true, false, depth));
    }
    if (!isNext('block-end')) fail('this is not an item of the list above, and not indented like what comes after it');
    tokens.skip();
  }

  function indentlessSequence(items: YamlNode[], depth: number): void {
    while (isNext('block-entry')) {
      const { start } = take();
      const isEmpty = isNext('block-entry', 'key', 'value', 'block-end');
      items.push(isEmpty ? nothing(start + 1) : node(true, false, depth));
    }
  }

  function blockMapping(pairs: [YamlNode, YamlNode][], depth: number): void {
    tokens.skip();
    while (isNext('key')) {
      const { start } = take();
      const key = isNext('key', 'value', 'block-end') ? nothing(start) : node(true, true, depth);
      pairs.push([key, blockValue(depth)]);
    }
    if (!isNext('block-end')) fail('this is not a key of the map above, and not indented like what comes after it');
    tokens.skip();
  }

  function blockValue(depth: number): YamlNode {
    if (!isNext('value')) return nothing(tokens.peek().start);
    const { start } = take();
    return isNext('key', 'value', 'block-end') ? nothing(start + 1) : node(true, true, depth);
  }

  function flowSequence(items: YamlNode[], depth: number): void {
    tokens.skip();
    for (let isFirst = true; !isNext('flow-sequence-end'); isFirst = false) {
      if (!isFirst) {
        if (!isNext('flow-entry')) fail('a comma or ] is missing');
        tokens.skip();
        if (isNext('flow-sequence-end')) break;
      }
      items.push(isNext('key') ? pairInSequence(depth) : node(false, false, depth));
    }
    tokens.skip();
  }

  /** `[a: b]` is a list of one map. */
  function pairInSequence(depth: number): YamlNode {
    const { start } = take();
    const ends: readonly Token['type'][] = ['flow-entry', 'flow-sequence-end'];
    let key: YamlNode;
    if (isNext('value', ...ends)) {
      key = nothing(start);
      // The kubelet's parser goes over the token here, whatever it is.
      tokens.skip();
    } else {
      key = node(false, false, depth);
    }
    let value: YamlNode = nothing(tokens.peek().start);
    if (isNext('value')) {
      tokens.skip();
      if (!isNext(...ends)) value = node(false, false, depth);
    }
    return { kind: 'mapping', tag: '', pairs: [[key, value]], start };
  }

  function flowMapping(pairs: [YamlNode, YamlNode][], depth: number): void {
    tokens.skip();
    for (let isFirst = true; !isNext('flow-mapping-end'); isFirst = false) {
      if (!isFirst) {
        if (!isNext('flow-entry')) fail('a comma or } is missing');
        tokens.skip();
        if (isNext('flow-mapping-end')) break;
      }
      pairs.push(flowPair(depth));
    }
    tokens.skip();
  }

  function flowPair(depth: number): [YamlNode, YamlNode] {
    const ends: readonly Token['type'][] = ['flow-entry', 'flow-mapping-end'];
    if (!isNext('key')) return [node(false, false, depth), nothing(tokens.peek().start)];
    const { start } = take();
    const key = isNext('value', ...ends) ? nothing(start) : node(false, false, depth);
    if (!isNext('value')) return [key, nothing(tokens.peek().start)];
    const colon = take();
    return [key, isNext(...ends) ? nothing(colon.start + 1) : node(false, false, depth)];
  }

  const root = document();
  const found: Mutable<FirstDocument> = { readAhead: 0 };
  if (root === undefined) return { readAhead: tokens.readAhead() };
  found.root = root;
  const next = tokens.peek();
  found.readAhead = tokens.readAhead();
  const second = startOfSecond(next);
  return second === undefined ? found : { ...found, second };

  /** Markers with nothing behind them begin none. */
  function startOfSecond(after: Token): number | undefined {
    const start = after.type === 'document-end' ? undefined : after.start;
    try {
      while (isNext('document-end', 'document-start')) tokens.skip();
      return isNext('stream-end') ? undefined : (start ?? tokens.peek().start);
    } catch (thrown) {
      if (thrown instanceof YamlSyntaxError) return start ?? thrown.offset;
      throw thrown;
    }
  }
}

/** An alias of nothing: its own code, as the mistake is another one. */
export class UnknownAnchor extends YamlSyntaxError {}

/** Nesting beyond what is followed here. */
export class TooDeep extends YamlSyntaxError {
  constructor(offset: number) {
    super(`more than ${MAX_YAML_DEPTH} levels of nesting`, offset);
  }
}
