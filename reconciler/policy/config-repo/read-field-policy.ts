import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { type FieldPolicy, isPolicyField, NO_FIELD_POLICY } from '#shared/contract/kubelet-config/field-policy.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import { type FileReport, readMap } from './file-report.ts';

/** As many as there are fields, and some to spare: these words travel with every assignment. */
const MOST_FIELDS = 200;

/** `fields: {allow: [...], deny: [...]}` of a pool or a cluster. What is wrong is in the report. */
export function readFieldPolicy(value: unknown, path: Path, report: FileReport): FieldPolicy {
  const policy = readMap(value, path, ['allow', 'deny'], report);
  if (policy === undefined) return NO_FIELD_POLICY;
  return {
    allow: readFields(policy.allow, [...path, 'allow'], report),
    deny: readFields(policy.deny, [...path, 'deny'], report),
  };
}

function readFields(value: unknown, path: Path, report: FileReport): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > MOST_FIELDS) {
    report.error('wrong-type', path, `${path.at(-1)} has to be a list of at most ${MOST_FIELDS} fields`);
    return [];
  }
  const fields = value.flatMap((item, index) => {
    if (typeof item === 'string' && isPolicyField(item)) return [item];
    const meant = typeof item === 'string' ? didYouMean(item, [...FIELDS.keys()]) : undefined;
    const message = `${abbreviateJson(item)} is not a field of a KubeletConfiguration`;
    report.error(
      'unknown-value',
      [...path, index],
      message,
      meant === undefined ? undefined : `did you mean ${meant}?`,
    );
    return [];
  });
  return [...new Set(fields)];
}
