import type { Finding } from '#shared/contract/finding.ts';
import type { ComplaintsOf } from '#shared/contract/kubelet-config/validate.ts';
import { validateForVersions } from '#shared/contract/kubelet-config/validate-versions.ts';
import { firstComplaints } from './first-complaints.ts';
import type { ValidPool } from './loaded-repo.ts';

/** What kubelets of these minor versions (`1.34`) would report about this pool's payload. Pure. */
export type JudgePool = (pool: ValidPool, minors: readonly string[]) => readonly Finding[];

/**
 * Says what kubelets of these minor versions (`1.34`), those of the pool's nodes, have against its config. Versions that it
 * was judged for when it was loaded (the cluster file's) are left out: that is in the pool's findings.
 *
 * @param judge the verdict on contents
 */
export const poolJudge =
  (judge: ComplaintsOf) =>
  (pool: ValidPool, minors: readonly string[]): readonly Finding[] => {
    const { value, spec, positionOf, judgedFor = [] } = pool;
    const rest = minors.filter((minor) => !judgedFor.includes(minor));
    return validateForVersions(value, rest, {
      apply: spec.apply,
      file: pool.file ?? `pools/${pool.name}/pool.yaml`,
      tolerate: spec.tolerate ?? [],
      complaintsOf: judge,
      ...(positionOf === undefined ? {} : { positionOf }),
    });
  };

/** As every pool is judged by default. */
export const judgePool = poolJudge(firstComplaints);
