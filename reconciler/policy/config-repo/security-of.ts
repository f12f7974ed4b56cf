import type { Finding } from '#shared/contract/finding.ts';
import { covers, deniedFields, type DeniedField } from '#shared/contract/kubelet-config/field-policy.ts';
import type { Composed } from '#shared/contract/kubelet-config/merge.ts';
import { formatPath, type Path } from '#shared/contract/kubelet-config/position.ts';
import { powerOf } from '#shared/contract/kubelet-config/security/powers.ts';
import { weakenedBy } from '#shared/contract/kubelet-config/security/weakened.ts';
import { credentialsIn } from './credentials-in.ts';
import type { PoolSource } from './pool-source.ts';

/**
 * What a pool's config gives to its author: fields that may not be set are errors, protections that it takes away are
 * shown to those who review it, and so is what looks like a credential. The place is that of the layer which says it: that is the line to change.
 *
 * @param file of the pool, as people see it
 * @param deny what the pool denies besides its cluster
 */
export function securityOf(
  { value, positionOf }: Composed,
  file: string,
  { fields, cluster }: Pick<PoolSource, 'fields' | 'cluster'>,
  deny: readonly string[],
): readonly Finding[] {
  const at = (path: Path): Pick<Finding, 'file' | 'line' | 'column' | 'field'> => ({
    file,
    ...positionOf(path),
    field: formatPath(path),
  });
  const denied = deniedFields(value, fields, deny);
  const names = new Set(denied.map(({ path }) => path.join('.')));
  const weakened = weakenedBy(value).filter(
    ({ path }) => !covers(fields.allow, path.join('.')) && !names.has(path.join('.')),
  );
  return [
    ...denied.map((each): Finding => {
      const isNew = each.allowable && covers(cluster.fields.allow, each.path.join('.'));
      return {
        code: 'denied-field',
        severity: 'error',
        kind: 'security',
        message: `${formatPath(each.path)} may not be set here: ${each.why}${gains(each)}`,
        ...(each.allowable ? { suggestion: isNew ? NOT_YET : HOW_TO_ALLOW } : {}),
        ...at(each.path),
      };
    }),
    ...weakened.map(({ path, gives }): Finding => ({
      code: 'weakens-security',
      severity: 'warning',
      kind: 'security',
      message: `whoever chooses ${formatPath(path)} ${gives}`,
      suggestion: 'where it is meant, list it in fields.allow of the cluster; fields.deny refuses it',
      ...at(path),
    })),
    ...shownCredentials({ value, positionOf }, file),
  ];
}

/** What looks like a credential, whoever may set it. */
export const shownCredentials = (
  { value, positionOf }: Pick<Composed, 'value' | 'positionOf'>,
  file: string,
): readonly Finding[] =>
  credentialsIn(value).map((path): Finding => ({
    code: 'credential-in-config',
    severity: 'warning',
    kind: 'security',
    message: `${formatPath(path)} looks like a credential: whoever reads the repository, the ConfigMaps of the namespace or one node has it`,
    suggestion: 'withdraw it, and have nodes provisioned with what they need to be secret',
    file,
    ...positionOf(path),
    field: formatPath(path),
  }));

const HOW_TO_ALLOW =
  "where it is meant, list it in fields.allow of the cluster's file, in a commit of its own before this one, or in ALLOW_FIELDS of the reconciler";
const NOT_YET = "the cluster's file allows it since this very commit: that counts from the next commit on";

/** What the table says of the field besides the reason. */
function gains({ path, allowable }: DeniedField): string {
  const row = allowable ? powerOf(path.join('.')) : undefined;
  return row === undefined ? '' : `. Whoever chooses it ${row.gives}`;
}
