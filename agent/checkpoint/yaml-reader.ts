import { setOwn } from '#shared/contract/kubelet-config/decode/json.ts';
import type { YamlNode, YamlScalar } from '#shared/contract/kubelet-config/decode/yaml/node-types.ts';
import { parseFirstDocument } from '#shared/contract/kubelet-config/decode/yaml/parser.ts';
import { damagedRecord } from '../host/record-shape.ts';

/**
 * Reads a small YAML file that a program wrote: maps, lists, texts, null and whole numbers.
 *
 * A plain scalar that is neither null nor a decimal number stays text. The kubelet's decoder would make numbers of the
 * names `0o17` and `0X1F`, which earlier releases wrote without quotes.
 *
 * @throws CHECKPOINT_DAMAGED
 */
export function readReferenceYaml(text: string): unknown {
  const { root, second } = parse(text);
  if (root === undefined) throw damagedRecord('it is empty');
  if (second !== undefined) throw damagedRecord('it holds more than one document');
  return valueOf(root);
}

function parse(text: string): ReturnType<typeof parseFirstDocument> {
  try {
    return parseFirstDocument(text);
  } catch (error) {
    throw damagedRecord('it is not valid YAML', error);
  }
}

function valueOf(node: YamlNode): unknown {
  if (node.kind === 'alias') throw damagedRecord('it holds an alias');
  if (node.tag !== '') throw damagedRecord(`it holds the tag ${node.tag}`);
  if (node.kind === 'scalar') return scalarOf(node);
  if (node.kind === 'sequence') return node.items.map(valueOf);
  const map: Record<string, unknown> = {};
  for (const [key, value] of node.pairs) {
    if (key.kind !== 'scalar') throw damagedRecord('a key is not text');
    if (Object.hasOwn(map, key.text)) throw damagedRecord(`${JSON.stringify(key.text)} is there twice`);
    setOwn(map, key.text, valueOf(value));
  }
  return map;
}

function scalarOf({ text, isPlain }: YamlScalar): string | number | null {
  if (isPlain && NULL.test(text)) return null;
  return isPlain && NUMBER.test(text) ? Number(text) : text;
}

const NULL = /^(?:~|null|Null|NULL)?$/;
const NUMBER = /^-?(?:0|[1-9][0-9]*)$/;
