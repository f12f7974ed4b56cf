import { COST_WORDS } from '#cli/plan/render/plan-lines.ts';
import { DENIED_BY_DEFAULT } from '#shared/contract/kubelet-config/field-policy.ts';
import type { ByMinor, Field } from '#shared/contract/kubelet-config/fields/field.ts';
import { RISK_NOTES } from '#shared/contract/kubelet-config/fields/risk-notes.ts';
import { defaultOf } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorName } from '#shared/contract/kubelet-config/minor.ts';
import { FLAGS } from '#shared/contract/kubelet-config/fields/flags.ts';
import { meaningOf } from './field-meanings/meanings.ts';

/** What is said of a field in more than one generated place. Sentences without a full stop; undefined where there is nothing to say. */

const costOf = ({ cost = 'restart' }: Field): string => COST_WORDS[cost];

const riskOf = ({ note }: Field): string | undefined => (note === undefined ? undefined : RISK_NOTES[note].means);

/** Why the field is refused unless `fields.allow` lists it; what is in a denied struct is denied with it. */
export function deniedBecause(path: string): string | undefined {
  const denied = Object.entries(DENIED_BY_DEFAULT).find(([name]) => path === name || path.startsWith(`${name}.`));
  return denied?.[1];
}

export function flagOf(path: string): string | undefined {
  const flag = FLAGS[path];
  return flag === undefined ? undefined : `${flag.length === 1 ? '-' : '--'}${flag}`;
}

/** A value as it would be written in YAML's flow style. */
export function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${key}: ${written(item)}`)
      .join(', ')}}`;
  }
  return String(value);
}

/** Each value with the minors that it holds before, in order; the last one holds for all later ones. */
export function byVersion<T>(
  now: T | undefined,
  before: ByMinor<T> | undefined,
): readonly { readonly value: T | undefined; readonly before: number | undefined }[] {
  const earlier = Object.entries(before ?? {})
    .map(([minor, value]) => ({ value, before: Number(minor) }))
    .sort((a, b) => a.before - b.before);
  return [...earlier, { value: now, before: undefined }];
}

/** The description that an editor shows for a field of one minor version: what it means, and below that what it costs. */
export function describe(path: string, field: Field, minor: number): string {
  const usual = defaultOf(field, minor);
  const [why, risk, flag] = [deniedBecause(path), riskOf(field), flagOf(path)];
  const isIgnored = field.ignoredFrom !== undefined && minor >= field.ignoredFrom;
  const sentences = [
    usual === undefined ? undefined : `Default ${written(usual)}`,
    field.gate === undefined ? undefined : `Counts only while the feature gate ${field.gate} is on`,
    isIgnored ? `Read and ignored since ${minorName(field.ignoredFrom ?? 0)}` : undefined,
    `A change costs: ${costOf(field)}`,
    risk === undefined ? undefined : `Risk: ${risk}`,
    why === undefined ? undefined : `Denied unless fields.allow lists it: ${why}`,
    flag === undefined ? undefined : `The flag ${flag} wins over it`,
  ];
  const cost = sentences.flatMap((sentence) => (sentence === undefined ? [] : [`${sentence}.`])).join(' ');
  return `${meaningOf(path)}.\n\n${cost}`;
}
