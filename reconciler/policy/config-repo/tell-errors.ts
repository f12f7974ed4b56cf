import type { ErrorObject } from 'ajv';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { formatPath, type Path } from '#shared/contract/kubelet-config/position.ts';
import { didYouMean, sameButCase } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { type FileReport, placeName } from './file-report.ts';
import type { Says, SchemaNode } from './schema-node.ts';
import { TEXT_FORMATS } from './text-formats.ts';
import { isMap } from '#shared/runtime/maps.ts';

/** An error with its place, and what stands there. */
interface Fault {
  readonly error: ErrorObject;
  readonly path: Path;
  readonly value: unknown;
  readonly node: SchemaNode;
}

/** What a branch has to say is told by the sentence of what has the branches. */
const IN_BRANCH = /\/(?:anyOf|oneOf)\/\d+\/|\/contains\//;

/**
 * Tells ajv's errors: one sentence for each place, and for each key of a map.
 *
 * @returns where they are, but for maps that only have keys too many
 */
export function tellErrors(
  errors: readonly ErrorObject[],
  schema: SchemaNode,
  file: unknown,
  report: FileReport,
  at: Path = [],
): readonly Path[] {
  const told = new Set<string>();
  const places: Path[] = [];
  const own = errors.filter(({ schemaPath, keyword }) => !IN_BRANCH.test(schemaPath) && keyword !== 'propertyNames');
  const ofType = new Set(own.flatMap(({ keyword, instancePath }) => (keyword === 'type' ? [instancePath] : [])));
  const isBelow = ({ instancePath: list }: ErrorObject): boolean =>
    own.some(({ instancePath }) => instancePath.startsWith(`${list}/`));
  for (const error of own.toSorted(unknownFirst)) {
    // Of what is another type altogether nothing else is worth a word; and what is misspelt may be what is missing.
    if (error.keyword !== 'type' && ofType.has(error.instancePath) && error.propertyName === undefined) continue;
    if (error.keyword === 'contains' && isBelow(error)) continue;
    const fault = faultOf(error, schema, file, at);
    const { path, value } = fault;
    if (error.keyword !== 'additionalProperties') places.push(path);
    const [code, place, message, advice] = sentenceOn(fault);
    const once = isMap(value) && error.keyword !== 'type' ? [place, message] : path;
    if (told.has(JSON.stringify(once))) continue;
    told.add(JSON.stringify(once));
    report.error(code, place, message, advice);
  }
  return places;
}

/** A key that is misspelt before the one that is therefore missing. */
const unknownFirst = (a: ErrorObject, b: ErrorObject): number =>
  Number(b.keyword === 'additionalProperties') - Number(a.keyword === 'additionalProperties');

function faultOf(error: ErrorObject, schema: SchemaNode, file: unknown, at: Path): Fault {
  let [value, node]: [unknown, SchemaNode] = [file, schema];
  const path = [...at];
  for (const part of error.instancePath.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(key) : key);
    value = (value as Readonly<Record<string, unknown>>)[key];
    node = belowOf(node, path.at(-1) ?? key);
  }
  const { propertyName: name } = error;
  if (name === undefined) return { error, path, value, node };
  return { error, path: [...path, name], value: name, node: node.propertyNames ?? {} };
}

/** The schema of a key or of an item. */
export function belowOf(
  { properties, additionalProperties: others, items }: SchemaNode,
  step: string | number,
): SchemaNode {
  if (typeof step === 'number') return items ?? {};
  if (properties !== undefined && Object.hasOwn(properties, step)) return properties[step] ?? {};
  return typeof others === 'object' ? others : {};
}

type Sentence = readonly [code: string, path: Path, message: string, advice?: string | undefined];

function sentenceOn(fault: Fault): Sentence {
  const { error, path, value, node } = fault;
  const params: Readonly<Record<string, unknown>> = error.params;
  if (error.keyword === 'additionalProperties') return unknownKey(fault, String(params['additionalProperty']));
  if (error.keyword === 'required') {
    const key = String(params['missingProperty']);
    return fillIn(belowOf(node, key)['x-missing'] ?? ['missing-field', `${key} is missing`], path, value);
  }
  if (value === null && node['x-missing'] !== undefined) return fillIn(node['x-missing'], path.slice(0, -1), value);
  if (error.keyword === 'uniqueItems') {
    const index = Math.max(Number(params['i']), Number(params['j']));
    return fillIn(saysOf(fault), [...path, index], (value as readonly unknown[])[index]);
  }
  const [code, place, message, advice] = fillIn(saysOf(fault), path, value);
  const words = wordsOf(node);
  const meant = typeof value === 'string' ? (sameButCase(value, words) ?? didYouMean(value, words)) : undefined;
  return [code, place, message, meant === undefined ? advice : `did you mean ${meant}?`];
}

function unknownKey({ path, node }: Fault, key: string): Sentence {
  const known = Object.keys(node.properties ?? {});
  const otherCase = sameButCase(key, known);
  const meant = otherCase ?? didYouMean(key, known);
  const advice = meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`;
  const place = [...path, key];
  return [
    otherCase === undefined ? 'unknown-field' : 'wrong-case',
    place,
    `${formatPath(place)} is not a field`,
    advice,
  ];
}

const wordsOf = (node: SchemaNode): readonly string[] =>
  [
    ...(node.enum ?? []),
    ...(node['x-words'] === true ? (node.anyOf ?? []) : []).flatMap((each) => each.enum ?? each.const),
  ].filter((word) => typeof word === 'string');

/** What the schema says of it, or else what the keyword means. */
function saysOf({ error: { keyword, schemaPath, params }, value, node }: Fault): Says {
  const says = node['x-says'] ?? {};
  const dependency = /\/dependencies\/(\w+)\/anyOf$/.exec(schemaPath)?.[1];
  const isSeveral = keyword === 'oneOf' && (params as Readonly<Record<string, unknown>>)['passingSchemas'] !== null;
  const isNumber = typeof value === 'number' ? says['number'] : undefined;
  const format = keyword === 'pattern' && typeof value === 'string' ? TEXT_FORMATS[node['x-format'] ?? ''] : undefined;
  return (
    format?.problem?.(String(value)) ??
    isNumber ??
    says[dependency ?? (isSeveral ? 'several' : keyword)] ??
    says['any'] ??
    usual(keyword, node)
  );
}

function usual(keyword: string, node: SchemaNode): Says {
  const types = [node.type ?? []].flat();
  if (keyword === 'enum') {
    return ['unknown-value', '{at} cannot be {value}', `write ${wordsOf(node).join(' or ')}`];
  }
  if (keyword === 'maxItems') return ['out-of-range', `{at} has {count} items, and at most ${node.maxItems} are taken`];
  if (keyword === 'maxProperties')
    return ['out-of-range', `{at} has {count} keys, and at most ${node.maxProperties} are taken`];
  if (types.includes('object')) return ['wrong-type', '{at} has to be a map'];
  if (types.includes('boolean')) return ['wrong-type', '{at} is {value}', 'write true or false'];
  if (!types.includes('array')) return ['bad-text', '{at} is {value} and has to be text'];
  if (node.minItems === undefined) return ['wrong-type', '{at} has to be a list'];
  return ['wrong-type', '{at} has to be a list of at least one', 'write one, or leave it out'];
}

/** A sentence with its gaps filled. */
export function fillIn([code, message, advice, key]: Says, path: Path, value: unknown): Sentence {
  const place = key === undefined ? path : [...path, key];
  const gaps: Readonly<Record<string, () => string>> = {
    at: () => placeName(place),
    key: () => String(place.at(-1)),
    value: () => abbreviateJson(value),
    text: () => String(value),
    count: () => String(Array.isArray(value) ? value.length : Object.keys(value ?? {}).length),
    is: () => howWrong(value),
  };
  const filled = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (gap, name: string) => gaps[name]?.() ?? gap);
  return [code, place, filled(message), advice === undefined || advice === '' ? undefined : filled(advice)];
}

function howWrong(value: unknown): string {
  if (typeof value !== 'string') return `is ${abbreviateJson(value)}`;
  const text = value.trim();
  if (text === '') return 'is empty';
  return /[^\s\P{Cc}]/u.test(text) ? 'has a control character' : `has ${text.length}`;
}
