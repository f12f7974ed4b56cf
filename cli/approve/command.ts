import { approvalValue, type AwaitedApproval, awaitedApprovals } from '#shared/contract/api/approval.ts';
import { APPROVE_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { Command, ExitCode, Given } from '../command.ts';
import type { Io } from '../io.ts';
import { type AnnotationChange, annotatePools } from '../pools/annotate-pool.ts';
import { checkChoice, MOST_POOLS, POOL_OPTIONS } from '../pools/choose-pools.ts';

export const APPROVE: Command = {
  name: 'approve',
  summary: 'lets a rollout that waits for a person go on',
  takes: 'POOL...',
  mostWords: MOST_POOLS,
  about: [
    'A wave with pause: true in pool.yaml has others wait for a person when it is done. This is the person: the payload that waits now\n' +
      'goes on to its next wave. Any other payload asks again, and so does this one at its next pause. A payload that no followed\n' +
      'cluster has proven waits as well, where clusters/CLUSTER.yaml has follows.require: payloads.',
    'Who approved and when is in an Event, in the status of the pool (of a payload that nobody has proven: of the KubeletSource), and\n' +
      'in the note of the commit.',
    'Exit code 1 where nothing waits for a person, or a config does that --config does not name.',
  ],
  options: {
    ...POOL_OPTIONS,
    config: { type: 'string', value: 'NAME', about: 'only if this config waits, such as the one you have looked at' },
  },
  examples: ['kubelet-gitops approve general', 'kubelet-gitops approve general --config general-6gk7tm5k4d'],
  run: runApprove,
};

async function runApprove(given: Given, io: Io): Promise<ExitCode> {
  checkChoice(given, false);
  const config = given.text('config');
  const approved = new Set<string>();
  const pools = await annotatePools(given, io, (pool) => {
    const { isApproved, ...change } = approval(pool, config);
    // Decided again after a write in between.
    if (isApproved) approved.add(pool.metadata.name);
    else approved.delete(pool.metadata.name);
    return change;
  });
  return approved.size === pools.length ? 0 : 1;
}

interface ApprovalChange extends AnnotationChange {
  readonly isApproved: boolean;
}

/** @param config what the person means to approve; undefined for whatever waits */
function approval({ metadata, status }: KubeletPool, config: string | undefined): ApprovalChange {
  const [waiting, ...others] = awaitedApprovals(status);
  if (waiting === undefined) {
    const isHalted = (status?.halt ?? null) !== null;
    const say = isHalted ? 'is halted: release it or commit a fix; nothing waits for an approval' : NOTHING_WAITS;
    return { isApproved: false, say };
  }
  const meant = config === undefined ? waiting : [waiting, ...others].find((each) => each.configName === config);
  if (meant === undefined)
    return { isApproved: false, say: `${config} does not wait for an approval: ${named(waiting)} does` };
  const value = approvalValue(meant);
  if (metadata.annotations?.[APPROVE_ANNOTATION] === value)
    return { isApproved: true, say: `${named(meant)} is approved already; the reconciler has yet to see it` };
  return {
    isApproved: true,
    write: { verb: 'approve', annotation: APPROVE_ANNOTATION, value },
    say: `${named(meant)} is approved; it waited since ${meant.since}${standing(meant, status)}`,
  };
}

/** So that nobody lets a config go on that no node runs any more. */
function standing({ wave }: AwaitedApproval, { counts }: KubeletPoolStatus = {}): string {
  if (counts === undefined || wave === undefined) return '';
  const { updated, nodes, failed, noAgent } = counts;
  const lost = [failed > 0 ? [`${failed} failed`] : [], noAgent > 0 ? [`${noAgent} without an agent`] : []].flat();
  return `; ${[`${updated} of ${nodes} nodes run it`, ...lost].join(', ')}`;
}

const NOTHING_WAITS = 'nothing waits for an approval';

const named = ({ configName, wave }: AwaitedApproval): string =>
  wave === undefined ? configName : `${configName} after wave ${wave}`;
