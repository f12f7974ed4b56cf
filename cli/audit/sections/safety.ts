import { isDeepStrictEqual } from 'node:util';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { gateSpec } from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import { weakeningGate } from '#shared/contract/kubelet-config/security/gates.ts';
import { WEAKENING } from '#shared/contract/kubelet-config/security/weakening.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { mapOf } from '#shared/runtime/maps.ts';
import { oncePerConfig } from '../alike.ts';
import type { AuditCheck, AuditSection, Evidence } from '../audit-report.ts';
import { checkOf, type Rule, sectionOf, tally, type Verdict } from '../checks.ts';
import { type EffectiveValue, effectiveOf, judgedBy, type NodeFacts, shownValue } from '../node-facts.ts';
import { CIS_EDITION, FIELD_RULES, type FieldRule } from './safety-rules.ts';

/** So long before its end a certificate is worth a word: a kubelet renews its own in the last third of their time. */
const ENDS_SOON_MS: Millis = 30 * 86_400_000;

/** What the kubelets allow, and whom. Pure. */
export function auditSafety(nodes: readonly NodeFacts[], now: Millis): AuditSection {
  const each = (rule: Rule, judge: (facts: NodeFacts) => Verdict): AuditCheck =>
    checkOf(
      rule,
      nodes.map((facts) => [facts.name, judge(facts)] as const),
    );
  const ofConfig = (rule: Rule, judge: (facts: NodeFacts) => Verdict): AuditCheck => each(rule, oncePerConfig(judge));
  const checks = [
    ...FIELD_RULES.map(({ fields, isGood, ...rule }) => ofConfig(rule, (facts) => judgeFields(facts, fields, isGood))),
    ...WEAKENED.map(({ field, ...rule }) => ofConfig(rule, (facts) => judgeWeakened(facts, field))),
    ofConfig(GATES, judgeGates),
    each(HOSTNAME, () => NOT_VISIBLE),
    each(CERTIFICATE, (facts) => judgeCertificate(facts, now)),
  ];
  const summary = `${tally(checks)} (CIS ${CIS_EDITION} 4.2, NSA/CISA, and our own)`;
  return sectionOf({ id: 'safety', title: 'Safety', summary, checks });
}

const NOT_VISIBLE: Verdict = { result: 'not-visible', evidence: [] };

function judgeFields(facts: NodeFacts, fields: readonly string[], isGood: FieldRule['isGood']): Verdict {
  const values = fields.map((field) => valueOf(facts, field));
  const evidence = values.flatMap((value, index) => evidenceOf(fields[index] ?? '', value));
  if (values.includes(undefined)) return { result: 'not-visible', evidence };
  const good = isGood(...values.map((of) => of?.value));
  return { result: good === undefined ? 'not-visible' : good ? 'pass' : 'fail', evidence };
}

/** A gate that is not set has its version's default. */
function valueOf(facts: NodeFacts, field: string): EffectiveValue | undefined {
  const [, gate] = /^featureGates\.(.+)$/.exec(field) ?? [];
  if (gate === undefined) return effectiveOf(facts, field);
  const isSet = Object.hasOwn(mapOf(facts.running['featureGates']), gate);
  const value = viewOf(facts.running, judgedBy(facts), 'replace').gate(gate);
  return { value, by: isSet ? 'config' : 'default' };
}

const evidenceOf = (field: string, of: EffectiveValue | undefined): readonly Evidence[] =>
  of === undefined ? [] : [{ field, ...of, value: shownValue(of.value, field) }];

/** Fields that take a protection away and have no rule of their own. That the kernel's parameters are not guarded is the default. */
const WEAKENED = Object.entries(WEAKENING)
  .filter(
    ([field]) =>
      field !== 'featureGates' &&
      field !== 'protectKernelDefaults' &&
      !FIELD_RULES.some(({ fields }) => fields[0] === field),
  )
  .map(([field, { gives }]) => ({
    field,
    id: `safety/${field}`,
    title: `Keep ${field} safe`,
    severity: 'medium' as const,
    because: gives,
    references: [],
  }));

function judgeWeakened(facts: NodeFacts, field: string): Verdict {
  const of = effectiveOf(facts, field);
  if (of === undefined) return NOT_VISIBLE;
  const usual = viewOf({}, judgedBy(facts), 'replace').value(field);
  const isHarmless =
    of.value === undefined || isDeepStrictEqual(of.value, usual) || WEAKENING[field]?.isHarmless(of.value) !== false;
  return { result: isHarmless ? 'pass' : 'fail', evidence: evidenceOf(field, of) };
}

const GATES: Rule = {
  id: 'safety/featureGates',
  title: 'Keep feature gates safe',
  severity: 'medium',
  because: WEAKENING['featureGates']?.gives ?? '',
  fix: { how: 'take these gates out of featureGates' },
  references: [],
};

function judgeGates(facts: NodeFacts): Verdict {
  const evidence = Object.entries(mapOf(facts.running['featureGates'])).flatMap(([gate, on]): readonly Evidence[] => {
    const isUsual = gateSpec(gate, judgedBy(facts))?.default === on;
    if (isUsual || weakeningGate(gate, on) === undefined) return [];
    return [{ field: `featureGates.${gate}`, value: String(on) }];
  });
  return { result: evidence.length === 0 ? 'pass' : 'fail', evidence };
}

/** No configuration has it, and no API of the kubelet shows it. */
const HOSTNAME: Rule = {
  id: 'safety/hostname-override',
  title: 'Start without --hostname-override',
  severity: 'low',
  fix: { how: 'look at the command line of the kubelet' },
  references: ['CIS 4.2.7'],
};

const CERTIFICATE: Rule = {
  id: 'safety/certificate-ends',
  title: 'Renew serving certificates 30 days before they end',
  severity: 'high',
  because: 'lets nobody check the kubelet any more: logs, exec and metrics fail where clients do',
  fix: { how: 'find out why it was not renewed: requests that nobody approved, or a file that nobody replaced' },
  references: ['NSA/CISA encryption'],
};

function judgeCertificate({ certificateEnds }: NodeFacts, now: Millis): Verdict {
  if (certificateEnds === undefined) return NOT_VISIBLE;
  const isSoon = certificateEnds - now < ENDS_SOON_MS;
  // To the day, so that nodes are a group.
  const value = `ends ${toTimestamp(certificateEnds).slice(0, 10)}`;
  return { result: isSoon ? 'fail' : 'pass', evidence: [{ field: 'certificate', value, by: 'kubelet' }] };
}
