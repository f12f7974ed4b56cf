import type { KubeletPoolSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';

type Safety = Pick<KubeletPoolSpec, 'rollout'>;

/** What a change takes away that bounds no count of nodes, and still guards them: a clause each. */
export function weakerSafety(before: Safety | undefined, after: Safety): readonly string[] {
  const [was, is] = [before?.rollout, after.rollout];
  if (was === undefined) return [];
  return [
    ...(was.onFailure.action === 'revert' && is.onFailure.action === 'halt'
      ? ['rollout.onFailure.action revert → halt: nodes that run a config which failed elsewhere keep it']
      : []),
    ...(was.emergency === undefined && is.emergency !== undefined
      ? ['rollout.emergency: changes begin outside of windows, too']
      : []),
    ...fewerPauses(was, is),
  ];
}

function fewerPauses(was: RolloutSpec, is: RolloutSpec): readonly string[] {
  const pauses = ({ canary, steps = [] }: RolloutSpec): number =>
    [canary, ...steps].filter((wave) => wave?.pause === true).length;
  const [before, after] = [pauses(was), pauses(is)];
  if (after >= before) return [];
  const asked = after === 0 ? 'no wave' : `${after} instead of ${before} waves`;
  return [`rollout pause: a person is asked to approve after ${asked}`];
}
