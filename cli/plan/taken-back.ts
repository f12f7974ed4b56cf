import type { Finding } from '#shared/contract/finding.ts';
import { covers, DENIED_BY_DEFAULT, RESTRICTIVE_VALUES } from '#shared/contract/kubelet-config/field-policy.ts';
import { childrenOf, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { WEAKENING } from '#shared/contract/kubelet-config/security/weakening.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { valueIn } from '#shared/runtime/maps.ts';

type Applied = Pick<ValidPool, 'value' | 'spec'>;

/** Where the value of a field comes from on a node: the pool's config, the node's own, or the kubelet's defaults. */
type Origin = 'pool' | 'node' | 'default';

/** Fields that may be open where nobody says anything of them, by the two tables of security. */
const SECURITY_FIELDS = [
  ...Object.entries(WEAKENING).flatMap(([field, { isHarmless }]) => (isHarmless(null) ? [] : [field])),
  ...[...FIELDS.keys()].filter(
    (field) => covers(Object.keys(DENIED_BY_DEFAULT), field) && childrenOf(field).length === 0,
  ),
].sort();

/**
 * What a change takes from nodes without setting it to anything: values of their own configs that a `null` or `apply: replace` takes
 * back, and values that the pool shut something with, and says no more. What it sets is judged by its value elsewhere. Pure.
 *
 * @param before what the nodes had of us; undefined for nothing
 * @param file   that a person would change
 */
export function takenBack(before: Applied | undefined, after: Applied | undefined, file: string): readonly Finding[] {
  const [lost, left]: readonly [string[], string[]] = [[], []];
  for (const field of SECURITY_FIELDS) {
    const [was, is] = [originOf(before, field), originOf(after, field)];
    if (was === 'node' && is === 'default') lost.push(field);
    if (was === 'pool' && is !== 'pool' && shuts(field, valueIn(before?.value, field.split('.')))) left.push(field);
  }
  const say = (message: string): Finding => ({
    code: 'opens',
    severity: 'warning',
    kind: 'security',
    message,
    file,
    field: 'spec.apply',
  });
  const back = after?.spec.apply === 'replace' ? 'the kubelet’s default' : 'what each node’s own config says';
  return [
    ...(lost.length === 0
      ? []
      : [say(`nodes lose what their own configs say of ${lost.join(', ')}: the kubelet’s defaults count there`)]),
    ...(left.length === 0 ? [] : [say(`the pool says no more of ${left.join(', ')}: ${back} counts again`)]),
  ];
}

function originOf(applied: Applied | undefined, field: string): Origin {
  if (applied === undefined) return 'node';
  const { apply, keepFields = [] } = applied.spec;
  const value = valueIn(applied.value, field.split('.'));
  if (value !== undefined && value !== null) return 'pool';
  if (apply === 'replace') return covers(keepFields, field) ? 'node' : 'default';
  return value === null ? 'default' : 'node';
}

const shuts = (field: string, value: unknown): boolean =>
  WEAKENING[field]?.isHarmless(value) ??
  (Object.hasOwn(RESTRICTIVE_VALUES, field) && RESTRICTIVE_VALUES[field] === value);
