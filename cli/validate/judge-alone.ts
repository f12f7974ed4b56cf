import type { Finding } from '#shared/contract/finding.ts';
import type { PositionOf } from '#shared/contract/kubelet-config/position.ts';
import { validateForVersions } from '#shared/contract/kubelet-config/validate-versions.ts';
import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import { firstComplaints } from '#reconciler/policy/config-repo/first-complaints.ts';
import { shownCredentials } from '#reconciler/policy/config-repo/security-of.ts';
import { suspiciousValues } from '#reconciler/policy/config-repo/suspicious-values.ts';

interface Alone {
  readonly file: string;
  readonly positionOf?: PositionOf | undefined;
  readonly apply?: ApplyMode;
}

/**
 * What a pool is told of such a config, if it were all of it. Who may choose which field is left out: that is for a cluster to say,
 * and a node's own config has all of them.
 */
export function judgeAlone(
  value: Readonly<Record<string, unknown>>,
  minors: readonly string[],
  { file, positionOf = () => undefined, ...rest }: Alone,
): readonly Finding[] {
  const config = { value, positionOf };
  return [
    ...shownCredentials(config, file),
    ...suspiciousValues(config, file),
    ...validateForVersions(value, minors, { ...rest, positionOf, file, complaintsOf: firstComplaints }),
  ];
}
