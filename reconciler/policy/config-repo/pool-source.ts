import type { FieldPolicy } from '#shared/contract/kubelet-config/field-policy.ts';
import type { ComplaintsOf } from '#shared/contract/kubelet-config/validate.ts';
import type { RepoFile } from '../commit-snapshot.ts';
import type { LeftOut } from './left-out.ts';
import type { ClusterConfig, TrialLimits } from './loaded-repo.ts';

/** What a pool is loaded from. */
export interface PoolSource {
  readonly name: string;
  readonly files: ReadonlyMap<string, RepoFile>;
  /** A path of `files` as people see it in the repository. */
  readonly shown: (path: string) => string;
  readonly cluster: ClusterConfig;
  /** Which fields may be set here and now. */
  readonly fields: FieldPolicy;
  /** What bounds its trials: of the cluster's file, and of the one in the commit before. */
  readonly trials: readonly TrialLimits[];
  /** What was left out of `files`. */
  readonly leftOut: Pick<LeftOut, 'at'>;
  readonly complaintsOf: ComplaintsOf;
}
