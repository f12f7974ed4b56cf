import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import type { DistributionName } from '#shared/contract/distributions.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import type { PositionOf } from '#shared/contract/kubelet-config/position.ts';
import { configVerdict } from '#shared/contract/kubelet-config/verdict.ts';
import type { RepoFile } from '#reconciler/policy/commit-snapshot.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { poolValueForDisplay } from '../class-of-node.ts';
import { flagConflicts, whyUnread } from '../distribution-conflicts.ts';
import { byPlace, type ValidatedFile } from './validation.ts';

type Config = ValidPool['value'];

interface Judged {
  readonly config: Config;
  readonly apply: ApplyMode;
  /** For what is about the whole of it. */
  readonly whole: Pick<Finding, 'file' | 'line' | 'column'>;
  readonly positionOf: PositionOf | undefined;
}

/**
 * What of a pool has no effect on nodes of a distribution.
 *
 * @param file   its pool.yaml
 * @param minors of its kubelets
 */
export function poolOnDistribution(
  pool: ValidPool,
  file: RepoFile | undefined,
  name: DistributionName,
  minors: readonly string[],
): readonly Finding[] {
  const { spec, positionOf } = pool;
  const place = file && decodeYaml(file.bytes, file.path).positionOf(['spec', 'apply']);
  const whole = { file: pool.file ?? `pools/${pool.name}/pool.yaml`, ...place };
  const config = poolValueForDisplay(pool) ?? {};
  return findingsOf({ config, apply: spec.apply, whole, positionOf }, name, minors);
}

/** The same of a single file, as all that a kubelet gets. */
export function fileOnDistribution(
  judged: ValidatedFile,
  bytes: Uint8Array,
  name: DistributionName,
  minors: readonly string[],
): ValidatedFile {
  const { path } = judged;
  const { value, positionOf } = decodeYaml(bytes, path);
  if (!isMap(value)) return judged;
  const found = findingsOf({ config: value, apply: 'overlay', whole: { file: path }, positionOf }, name, minors);
  const findings = [...judged.findings, ...found].sort(byPlace);
  const verdicts = minors.map((minor) => [minor, configVerdict(findings, minor)] as const);
  return { path, verdicts: Object.fromEntries(verdicts), findings };
}

/** One finding for all versions that it holds for. */
function findingsOf({ config, apply, whole, positionOf }: Judged, name: DistributionName, minors: readonly string[]) {
  const each = minors.flatMap((minor): readonly { readonly minor: string; readonly finding: Finding }[] => {
    const unread = whyUnread(name, minor, apply);
    if (unread !== undefined) {
      const finding = { code: 'config-not-read', severity: 'error', ...unread, ...whole } as const;
      return [{ minor, finding }];
    }
    return flagConflicts(name, minor, config).map(({ field, message, suggestion, isCertain }) => {
      const place = positionOf?.(field.split('.'));
      const severity = isCertain ? 'error' : 'warning';
      const said = { code: 'flag-shadows', severity, message, suggestion, field } as const;
      return { minor, finding: { ...whole, ...place, ...said } };
    });
  });
  return [...Map.groupBy(each, ({ finding }) => JSON.stringify(finding)).values()].flatMap(
    (same): readonly Finding[] => {
      const versions = same.length === minors.length ? {} : { versions: same.map(({ minor }) => minor) };
      return same.slice(0, 1).map(({ finding }) => ({ ...finding, ...versions }));
    },
  );
}
