import type { Fleet } from '#reconciler/policy/fleet.ts';
import { amountOf, limitOf } from '#reconciler/policy/rollout/amount.ts';
import type { Member } from '#reconciler/policy/rollout/membership.ts';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import type { RolloutStory } from '../rollout-story.ts';

/** By what its agent says, and by how long it is Ready: nobody has to give way for the rest of its trial, or for its soak. */
export function gaveItsPlaceBack(
  { kubeletNode, node, lifecycle: { shown } }: Member,
  { fleet, rollout }: RolloutStory,
): boolean {
  const { probation = '50s' } = rollout;
  if (probation === 'full' || !node.ready || shown === 'no-agent' || shown === 'failed') return false;
  if (shown === 'soaking') return true;
  const { spec, status } = kubeletNode ?? {};
  const lasted = Math.min((status?.trial?.healthySeconds ?? 0) * 1000, fleet.now - node.readySince);
  if (!wasSeenLately(kubeletNode, fleet.now)) return false;
  const isFirstTime = spec?.configSource?.sha256 !== status?.lastKnownGood?.sha256;
  const isOfIt = spec?.configSource?.sha256 === status?.active?.sha256;
  return status?.phase === 'Trial' && isFirstTime && isOfIt && lasted >= (parseDuration(probation) ?? Infinity);
}

const wasSeenLately = (node: KubeletNode | undefined, now: Millis): boolean =>
  now - (fromTimestamp(node?.status?.heartbeat) ?? 0) <= 120_000;

/** As many as `maxUnavailable` says, or else as the nodes that have shown that they live with the payload make of the canaries. */
export function mayTry(
  { fleet: { now }, rollout }: RolloutStory,
  before: Fleet,
  sha256: string,
  members: number,
): number {
  const unavailable = limitOf(rollout.maxUnavailable, members);
  const probationMs = parseDuration(rollout.probation ?? '50s');
  if (probationMs === undefined) return unavailable;
  const cap =
    rollout.maxOnTrial === undefined
      ? Math.max(limitOf('20%', members), unavailable)
      : limitOf(rollout.maxOnTrial, members);
  const { canary } = rollout;
  const ofPool = [...before.nodes.values()].filter(({ labels }) => labels['pool'] === 'workers');
  const named = ofPool.filter(({ labels }) => canary?.selector !== undefined && labels['canary'] === 'yes').length;
  const asked =
    canary?.nodes === undefined ? named : Math.min(ofPool.length, amountOf(canary.nodes, ofPool.length, 'up'));
  const canaries = Math.max(1, asked);
  let [promoted, passed, failed] = [0, 0, 0];
  for (const node of before.nodes.values()) {
    const { spec, status } = before.kubeletNodes.get(node.name) ?? {};
    // Who is on its way out of the pool has shown what it has shown.
    if (node.labels['pool'] !== 'workers' && spec?.pool !== 'workers') continue;
    const isTold = spec?.configSource?.sha256 === sha256;
    const healthyMs = Math.min((status?.trial?.healthySeconds ?? 0) * 1000, now - node.readySince);
    const isShown = isTold && wasSeenLately(before.kubeletNodes.get(node.name), now);
    const lives = isShown && status?.phase === 'Trial' && status.active?.sha256 === sha256 && healthyMs >= probationMs;
    if (status?.lastKnownGood?.sha256 === sha256) promoted += 1;
    else if (lives) passed += 1;
    if (isTold && status?.rejected?.some((each) => each.sha256 === sha256)) failed += 1;
  }
  let most = canaries;
  if (promoted >= canaries && failed === 0) while (most <= promoted + passed) most *= 2;
  return Math.min(cap, most);
}

/**
 * By what was written, never by what was said of it: how many nodes that are still there were told the pool's payload, or run it, and
 * have neither taken it back nor promoted it (and soaked, where they gave their places in the budget back and are still of the pool).
 * None where the pool settled on it.
 */
export function exposed({ fleet, rollout }: RolloutStory, sha256: string): number {
  const { nodes, kubeletNodes, pools } = fleet.fleet;
  const isFull = rollout.probation === 'full';
  const soakMs = isFull ? 0 : (parseDuration(rollout.soak) ?? 0);
  const isThrough = ({ metadata, spec, status }: KubeletNode): boolean => {
    const isHeard = status?.assigned?.sha256 === sha256;
    const failure = !isHeard ? undefined : status?.rejected?.find((each) => each.sha256 === sha256)?.at;
    if (status?.lastKnownGood?.sha256 !== sha256) return failure !== undefined && failure !== spec?.forgive;
    const hasLeft = nodes.get(metadata.name)?.labels['pool'] !== 'workers';
    return hasLeft || fleet.now - (fromTimestamp(status.promotedAt) ?? 0) >= soakMs;
  };
  if (pools.get('workers')?.status?.settled?.sha256 === sha256) return 0;
  // Who went back to it from a later payload is told it for nothing.
  const runsIt = ({ active, lastKnownGood }: KubeletNodeStatus): boolean =>
    active?.sha256 === sha256 && lastKnownGood?.sha256 === sha256;
  const told = [...kubeletNodes].filter(
    ([name, node]) =>
      nodes.has(name) &&
      node.spec?.pool === 'workers' &&
      (node.spec.configSource?.sha256 === sha256 || runsIt(node.status ?? {})) &&
      !isThrough(node),
  );
  return told.length;
}
