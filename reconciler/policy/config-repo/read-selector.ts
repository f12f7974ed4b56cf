import type { LabelRequirement, LabelSelector } from '#shared/contract/api/kubelet-pool.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { isLabelValue, isQualifiedName } from '#shared/contract/kubelet-config/syntax/names.ts';
import { isMap } from '#shared/contract/kubelet-config/written-fields.ts';
import { checkLength, MOST_ITEMS, readWord } from './read-scalars.ts';
import { type FileReport, readMap } from './file-report.ts';

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

/** As in deploy/crds. For more nodes than this by name, a label of their own. */
const MOST_VALUES = 256;

/** `metav1.LabelSelector`, judged as the API server would. An empty one selects every node; none at all is an error. */
export function readSelector(value: unknown, path: Path, report: FileReport): LabelSelector {
  if (value === undefined) {
    report.error('missing-field', path, 'a pool needs a nodeSelector', 'name labels of its nodes; {} is every node');
    return {};
  }
  const selector = readMap(value, path, ['matchLabels', 'matchExpressions'], report) ?? {};
  const matchLabels = readLabels(selector.matchLabels, [...path, 'matchLabels'], report);
  const matchExpressions = readExpressions(selector.matchExpressions, [...path, 'matchExpressions'], report);
  return {
    ...(matchLabels === undefined ? {} : { matchLabels }),
    ...(matchExpressions === undefined ? {} : { matchExpressions }),
  };
}

/** A selector that has to leave something out: one without requirements is a slip if it selects nodes or pods. */
export function readNarrowSelector(value: unknown, path: Path, report: FileReport): LabelSelector {
  const selector = readSelector(value, path, report);
  const requirements = Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length;
  if (requirements === 0) {
    report.error('missing-field', path, 'the selector names no label, and would select all', 'write matchLabels');
  }
  return selector;
}

function readLabels(value: unknown, path: Path, report: FileReport): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  if (!isMap(value)) {
    report.error('wrong-type', path, 'matchLabels has to be a map of labels');
    return undefined;
  }
  const labels = Object.entries(value).flatMap(([key, label]) => {
    checkKey(key, [...path, key], report);
    return isLabel(label, [...path, key], report) ? [[key, label] as const] : [];
  });
  return Object.fromEntries(labels);
}

function readExpressions(value: unknown, path: Path, report: FileReport): readonly LabelRequirement[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    report.error('wrong-type', path, 'matchExpressions has to be a list');
    return undefined;
  }
  checkLength(value, path, MOST_ITEMS, report);
  return value.map((item, index) => readExpression(item, [...path, index], report));
}

function readExpression(value: unknown, path: Path, report: FileReport): LabelRequirement {
  const { key, operator, values } = readMap(value, path, ['key', 'operator', 'values'], report) ?? {};
  checkKey(key, [...path, 'key'], report);
  if (operator === undefined)
    report.error('missing-field', path, 'the expression has no operator', `write ${OPERATORS.join(', ')}`);
  const word = readWord(operator, [...path, 'operator'], OPERATORS, report);
  const listed = readValues(values, [...path, 'values'], report);
  const needsValues = word === 'In' || word === 'NotIn';
  if (operator !== undefined && needsValues !== listed.length > 0) {
    const message = needsValues ? `${word} needs at least one value` : `${word} takes no values`;
    report.error('missing-field', [...path, 'values'], message);
  }
  const name = typeof key === 'string' ? key : '';
  return listed.length === 0 ? { key: name, operator: word } : { key: name, operator: word, values: listed };
}

function readValues(value: unknown, path: Path, report: FileReport): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    report.error('wrong-type', path, 'values has to be a list');
    return [];
  }
  checkLength(value, path, MOST_VALUES, report);
  return value.filter((item, index): item is string => isLabel(item, [...path, index], report));
}

function checkKey(key: unknown, path: Path, report: FileReport): void {
  if (typeof key === 'string' && isQualifiedName(key)) return;
  const message = key === undefined ? 'the expression has no key' : `${abbreviateJson(key)} is not a valid label key`;
  report.error('bad-label', path, message, 'write name or example.com/name');
}

function isLabel(value: unknown, path: Path, report: FileReport): value is string {
  if (typeof value === 'string' && isLabelValue(value)) return true;
  const suggestion =
    typeof value === 'string'
      ? 'at most 63 letters, digits, dots, dashes and underscores'
      : `write "${abbreviateJson(value)}" in quotes`;
  report.error('bad-label', path, `${abbreviateJson(value)} is not a valid label value`, suggestion);
  return false;
}
