import { UNKNOWN_CONFIG } from '#shared/contract/api/kubelet-node.ts';
import type { HaltImpact } from '#shared/contract/api/kubelet-pool.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import type { MemberDecision } from '../rollout/decide-group.ts';
import { failedMembers } from '../rollout/halt.ts';
import type { Member } from '../rollout/membership.ts';
import { activeConfigOf, sameTarget, waitsToRecover } from '../rollout/node-progress.ts';

/** What a halt means for what runs on the pool's nodes now, and whether it can wait. Every screen says this and nothing of its own. Pure. */
export function haltImpact(members: readonly Member[], decisions: readonly MemberDecision[]): HaltImpact {
  const [given, others] = [members.filter(wasGiven), members.filter((member) => !wasGiven(member))];
  const moving = new Set(decisions.flatMap((decision) => (isMoving(decision) ? [decision.member.node.name] : [])));
  const unwell = given.filter((member) => isBroken(member) || (!moving.has(member.node.name) && isUnwell(member)));
  const where = whatRuns(members);
  if (unwell.length > 0) {
    const broken = unwell.filter(isBroken);
    const notReady = unwell.filter((member) => !isBroken(member) && !member.node.ready);
    const failing = unwell.filter((member) => !isBroken(member) && member.node.ready);
    const what = [
      ...(broken.length === 0 ? [] : [`the kubelet runs with none of its configs on ${namesOf(broken)}`]),
      ...(notReady.length === 0 ? [] : [`${namesOf(notReady)} got the config and ${are(notReady)} not Ready`]),
      ...(failing.length === 0 ? [] : [`the kubelet keeps ending on ${namesOf(failing)}`]),
    ];
    return { risk: 'users', message: `${what.join('; ')}: pods there are at risk, so act now; ${where}` };
  }
  if (moving.size > 0) {
    const names = firstFew([...moving], MOST_NODES);
    return {
      risk: 'changing',
      message: `still being changed or taken back: ${names}; look again in a few minutes; ${where}`,
    };
  }
  const away = others.filter(isUnwell);
  const besides = away.length === 0 ? '' : `; ${namesOf(away)} ${are(away)} not Ready and never got the config`;
  // A halt is by intent not over when its failures are: whoever took a machine away proved nothing of the config.
  const gone = failedMembers(members).length > 0 ? '' : `; ${CAUSE_IS_GONE}`;
  return {
    risk: 'none',
    message: `nothing gets worse while nobody acts; ${where}${besides}${gone}; this can wait for working hours`,
  };
}

const CAUSE_IS_GONE =
  'no node counts as failed any more, and the halt stays until another config is pushed or a person releases the pool';

const MOST_NODES = 5;

const namesOf = (members: readonly Member[]): string =>
  firstFew(
    members.map(({ node }) => node.name),
    MOST_NODES,
  );

const are = ({ length }: readonly Member[]): string => (length === 1 ? 'is' : 'are');

/** It was told the config, whatever came of it. */
const wasGiven = ({ isAssigned, runsTarget, failedAt, lifecycle }: Member): boolean =>
  isAssigned || runsTarget || failedAt !== undefined || lifecycle.failed;

const isBroken = ({ kubeletNode }: Member): boolean => kubeletNode?.status?.phase === 'Broken';

const isUnwell = (member: Member): boolean =>
  !member.node.ready || isBroken(member) || member.lifecycle.shown === 'failing';

/** An agent that is gone ends nothing by itself, and one that waits until its node is well changes nothing until then. */
function isMoving({ member: { lifecycle, kubeletNode }, verdict }: MemberDecision): boolean {
  const { inChange, shown } = lifecycle;
  const isInChange = inChange && shown !== 'no-agent' && shown !== 'soaking' && !waitsToRecover(kubeletNode);
  return isInChange || verdict.verdict === 'change' || verdict.verdict === 'drain';
}

/** By what agents say that kubelets run, on trial or proven. A silent agent says nothing of now. */
function whatRuns(members: readonly Member[]): string {
  const seen = members.filter((member) => !isBroken(member) && !isUnseen(member));
  const running = seen.filter(({ kubeletNode, target }) => sameTarget(activeConfigOf(kubeletNode), target)).length;
  const unseen = members.filter(isUnseen).length;
  const nodes = (count: number, verb: string): string => `${count} ${count === 1 ? `node ${verb}s` : `nodes ${verb}`}`;
  const before = seen.length - running;
  const known = `${nodes(running, 'run')} the failed config, ${nodes(before, 'run')} what ${before === 1 ? 'it' : 'they'} ran before`;
  return unseen === 0
    ? known
    : `${known}, ${unseen === 1 ? 'one node does' : `${unseen} nodes do`} not say what runs there`;
}

const isUnseen = ({ lifecycle, kubeletNode }: Member): boolean => {
  const active = kubeletNode?.status?.active;
  return lifecycle.shown === 'no-agent' || active === undefined || active.name === UNKNOWN_CONFIG;
};
