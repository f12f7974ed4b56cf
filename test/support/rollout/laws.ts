import assert from 'node:assert/strict';
import { limitOf, thresholdOf } from '#reconciler/policy/rollout/amount.ts';
import { isControlPlane } from '#reconciler/policy/rollout/quorum.ts';
import { zoneOf } from '#reconciler/policy/rollout/node-order.ts';
import type { KubeletNode, KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import type { Plan } from '#reconciler/policy/plan.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import type { Member } from '#reconciler/policy/rollout/membership.ts';
import type { GroupPlan } from '#reconciler/policy/plan-nodes.ts';
import { wavesOf } from '#reconciler/policy/rollout/waves.ts';
import type { RolloutStory } from '../rollout-story.ts';
import { exposed, gaveItsPlaceBack, mayTry } from './on-trial-by-writes.ts';

/** One pass of the planner, held to everything that no pass may ever do. @throws AssertionError that names the law */
export function lawfulPass(story: RolloutStory): Plan {
  const before = story.fleet.fleet;
  const wanted = [...(story.fleet.inForce?.repo.pools ?? [])].find(({ status }) => status === 'valid');
  const sha256 = wanted?.status === 'valid' ? wanted.sha256 : '';
  const [proved, exposedBefore] = [provedIn(before), exposed(story, sha256)];
  const at = atTheirTurn(story);
  const planned = story.fleet.reconcile();
  const ofPool = planned.nodes.groups.find(({ group }) => group.pool !== null);
  const [size, halted] = [ofPool?.group.members.length ?? 0, (ofPool?.memory.halt ?? null) !== null];
  checkGrants(story, before, planned.steps, { members: size, halted, at });
  if (!proved.has(sha256)) {
    const allowed = mayTry(story, before, sha256, size);
    const now = exposed(story, sha256);
    assert.ok(now <= Math.max(allowed, exposedBefore), `${now} nodes try a payload that ${allowed} may`);
  }
  for (const plan of planned.nodes.groups) if (plan.group.pool !== null) check(story, plan, planned.steps, proved);
  checkSteps(story, before, planned.steps);
  return planned;
}

/** What a single decision may never do, whatever happened before. */
function check(story: RolloutStory, plan: GroupPlan, steps: readonly Step[], proved: ReadonlySet<string>): void {
  const { decisions, group, memory } = plan;
  const { rollout } = story;
  const begun = beginnings(steps);
  const beginners = decisions.filter(
    ({ member }) =>
      begun.has(member.node.name) &&
      (!isChanging(member) || gaveItsPlaceBack(member, story)) &&
      !member.runsTarget &&
      member.node.drain === undefined,
  );
  // Who is new begins with what is proven, and takes nobody's place by that.
  const turns = beginners.filter(({ member }) => {
    const isNew = (member.kubeletNode?.status?.promotedAt ?? null) === null;
    return !isNew || !proved.has(begun.get(member.node.name) ?? '');
  });
  const all = decisions.map(({ member }) => member);
  const seen = all.filter((member) => hasServed(member, proved, story.fleet.now));
  const well = turns.filter(({ member }) => member.node.ready);
  assert.ok(well.length === turns.length || rollout.notReadyNodes === 'change', 'who is not Ready waits');
  if (turns.length > 0) {
    assert.ok(isWithin(limitOf(rollout.maxUnavailable, all.length), seen, turns, story), 'maxUnavailable');
    const suspended = story.fleet.fleet.pools.get('workers')?.metadata.annotations?.['kubelet-gitops.dev/suspend'];
    assert.equal(suspended, undefined, 'a suspended pool begins nothing');
  }
  if (rollout.maxUnavailablePerZone !== undefined) {
    for (const zone of new Set(turns.map(({ member }) => zoneOf(member)))) {
      const within = seen.filter((member) => zoneOf(member) === zone);
      const begun = turns.filter(({ member }) => zoneOf(member) === zone);
      const inZone = all.filter((member) => zoneOf(member) === zone);
      const allowed = limitOf(rollout.maxUnavailablePerZone, inZone.length);
      assert.ok(isWithin(allowed, within, begun, story), 'maxUnavailablePerZone');
    }
  }
  const masters = beginners.filter(({ member }) => isControlPlane(member.node.labels));
  const away = all.filter(
    (member) =>
      isControlPlane(member.node.labels) &&
      (!member.node.ready || isChanging(member) || member.node.drain !== undefined) &&
      masters.every((turn) => turn.member.node.name !== member.node.name),
  );
  assert.ok(masters.length === 0 || masters.length + away.length <= 1, 'one node of the control plane at a time');
  for (const { member } of decisions) {
    const { name, labels, drain } = member.node;
    const isBegun = begun.has(name) && drain !== undefined && !isChanging(member) && !member.runsTarget;
    if (!isBegun || !isControlPlane(labels)) continue;
    const others = all.filter(({ node }) => node.name !== name && isControlPlane(node.labels));
    const isAlone = others.every((each) => each.node.ready && !isChanging(each));
    assert.ok(isAlone, 'a drained node of the control plane begins while no other one is away');
  }
  const entered = decisions.filter(
    ({ aimed, member, verdict }) =>
      verdict.verdict === 'change' && aimed.targetKind === 'config' && !member.isAssigned && !member.runsTarget,
  );
  assert.ok(memory.halt === null || entered.length === 0, 'nobody enters a halted rollout');
  const done = memory.rollout?.waves.findLast(({ state }) => state === 'done')?.name;
  const waves = wavesOf(
    rollout,
    group.members.filter(({ target }) => target !== null),
  );
  const current = waves[waves.findIndex(({ name }) => name === done) + 1];
  // What is proven goes to everybody at once, as after a commit that takes another one back.
  const entering = entered.filter(({ member: { target } }) => !proved.has(target?.sha256 ?? ''));
  if (entering.length > 0 && current !== undefined) {
    const concerned = group.members.filter((member) => current.only?.(member) !== false);
    const told = concerned.filter(({ isAssigned }) => isAssigned).length;
    // Another node begins for each that failed, while the pool puts up with that.
    const lost = concerned.filter(({ isAssigned, lifecycle }) => isAssigned && lifecycle.failed);
    const limit = Math.max(1, limitOf(rollout.maxUnavailable, group.members.length));
    const spared = Math.min(thresholdOf(rollout.onFailure.threshold, group.members.length), limit) - 1;
    const most = current.nodes + Math.min(lost.length, spared);
    assert.ok(told + entering.length <= most || current.name === 'rest', `wave ${current.name}`);
    assert.ok(
      entering.every(({ member }) => current.only?.(member) !== false),
      'canaries by selector are those alone',
    );
  }
}

/** The nodes that a write tells to begin something, and the payload where it is told: a drain comes before that. */
function beginnings(steps: readonly Step[]): ReadonlyMap<string, string | undefined> {
  return new Map(
    steps.flatMap((step): (readonly [string, string | undefined])[] => {
      if (step.step === 'cordon') return [[step.node, undefined]];
      const tells = step.step === 'assign' || step.step === 'unassign';
      return tells ? [[step.node.metadata.name, step.spec.configSource?.sha256]] : [];
    }),
  );
}

type SpecStep = Extract<Step, { readonly spec: KubeletNodeSpec; readonly node: KubeletNode }>;

/** Whether a write gives a node leave to restart its kubelet with what it has already: by what is written, never by its name. */
function grants(step: Step): step is SpecStep {
  if (!('spec' in step) || !('node' in step)) return false;
  const { turn } = step.spec;
  return turn !== undefined && turn.seen !== step.node.spec?.turn?.seen;
}

/** The nodes that were granted a turn and are not through with it. */
function atTheirTurn({ fleet }: RolloutStory): number {
  return [...fleet.fleet.kubeletNodes].filter(([name, { spec, status }]) => {
    const [granted, asked] = [spec?.turn?.seen, status?.awaitsTurn?.seen];
    const restarts = status?.phase === 'Trial' && status.active?.sha256 === status.lastKnownGood?.sha256;
    return fleet.fleet.nodes.has(name) && granted !== undefined && (granted === asked || restarts);
  }).length;
}

/** What no grant of a turn may ever be. */
function checkGrants(
  { rollout }: RolloutStory,
  before: Fleet,
  steps: readonly Step[],
  { members, halted, at }: { readonly members: number; readonly halted: boolean; readonly at: number },
): void {
  const given = steps.filter(grants);
  if (given.length === 0) return;
  const refused = new Set(
    [...before.kubeletNodes].flatMap(([name, { metadata, status }]) => {
      const uid = before.nodes.get(name)?.uid;
      const isThere = metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
      return isThere && status?.refusedBase ? [status.refusedBase.sha256] : [];
    }),
  );
  for (const { node, spec } of given) {
    assert.equal(spec.turn?.seen, node.status?.awaitsTurn?.seen, 'a turn is for what the node asked for');
    assert.ok(isTold(node, spec), 'a turn comes beside the assignment that the node has');
    assert.ok(
      !refused.has(node.status?.awaitsTurn?.base ?? ''),
      'what failed on one node of the pool is tried on no other',
    );
  }
  assert.ok(!halted, 'a halted pool grants nothing');
  const allowed = limitOf(rollout.maxUnavailable, members);
  assert.ok(given.length + at <= allowed, `${given.length + at} restart with what they have, where ${allowed} may`);
}

/** What the pool settled on, and a payload that has done all its waves. */
function provedIn({ pools }: Fleet): ReadonlySet<string> {
  const { settled, rollout, halt } = pools.get('workers')?.status ?? {};
  const isThrough = halt === undefined && rollout?.waves.every(({ state }) => state === 'done') === true;
  return new Set([...(settled === undefined ? [] : [settled.sha256]), ...(isThrough ? [rollout.sha256] : [])]);
}

const NEW_MS = 15 * 60_000;

/** A new node that was told nothing, or nothing but what is proven, holds no place of nodes that serve until it has proven something. */
function hasServed({ kubeletNode, node }: Member, proved: ReadonlySet<string>, now: number): boolean {
  const told = kubeletNode?.spec?.configSource?.sha256;
  const hasProvedSomething = (kubeletNode?.status?.promotedAt ?? null) !== null;
  return hasProvedSomething || (told === undefined ? now - node.createdAt > NEW_MS : !proved.has(told));
}

const isChanging = ({ lifecycle }: Member): boolean => lifecycle.inChange && lifecycle.shown !== 'soaking';

/** No turn makes more nodes unavailable than are allowed, nor are more in change at a time, those included that were unavailable before. */
function isWithin(
  allowed: number,
  seen: readonly Member[],
  turns: GroupPlan['decisions'],
  story: RolloutStory,
): boolean {
  const well = turns.filter(({ member }) => member.node.ready).length;
  const isBusy = (member: Member): boolean => member.lifecycle.inChange && !gaveItsPlaceBack(member, story);
  const isAway = (member: Member): boolean =>
    !member.node.ready || member.node.cordoned || ['failed', 'no-agent'].includes(member.lifecycle.shown);
  const unavailable = seen.filter((member) => isBusy(member) || isAway(member)).length;
  const inChange = seen.filter(isBusy).length;
  return (well === 0 || unavailable + well <= allowed) && inChange + turns.length <= allowed;
}

/** What no write to a node may ever be. */
function checkSteps(story: RolloutStory, before: Fleet, steps: readonly Step[]): void {
  const { allow = ['restart'] } = story.disruption ?? {};
  for (const step of steps) {
    if (step.step === 'assign' && step.spec.reboot !== undefined) {
      assert.ok(allow.includes('reboot'), 'only who may is rebooted');
      assert.equal(step.spec.reboot.boot, step.node.status?.bootID, 'the boot that is to end is the present one');
      const told = step.node.spec?.reboot;
      const again = told?.boot === step.spec.reboot.boot && isTold(step.node, step.spec) && !isRejected(step.node);
      assert.ok(!again, 'no change reboots a machine twice');
    }
    if (step.step === 'cordon') assert.ok(allow.includes('drain'), 'only who may is drained');
    const node = 'node' in step && typeof step.node === 'string' ? before.nodes.get(step.node) : undefined;
    if (step.step === 'cordon') assert.ok(node?.cordoned !== true || node.drain !== undefined, 'what others cordoned');
    if (step.step === 'uncordon') assert.ok(node?.drain !== undefined, 'only what we cordoned is uncordoned');
    if (step.step !== 'untaint') continue;
    const { active, lastKnownGood, phase } = before.kubeletNodes.get(step.node)?.status ?? {};
    const rests = phase === 'Idle' || phase === 'Drifted';
    const proved = rests && active?.sha256 === lastKnownGood?.sha256;
    assert.ok(node?.gated === true && node.ready, 'a taint that is there, on a node that could take pods');
    assert.ok(proved || node.labels['pool'] !== 'workers', 'pods come when the config is proven');
  }
}

const isTold = ({ spec }: KubeletNode, wanted: KubeletNodeSpec): boolean =>
  spec?.configSource?.sha256 === wanted.configSource?.sha256;
const isRejected = ({ spec, status }: KubeletNode): boolean =>
  status?.rejected?.some(({ sha256 }) => sha256 === spec?.configSource?.sha256) === true;
