import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import type { Desired } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { PAYLOAD_KEY } from '#shared/contract/api/group.ts';
import { disruptions, MOST_NODES, roughEvents, rollouts, RolloutStory } from '../../support/rollout-story.ts';
import { lawfulPass } from '../../support/rollout/laws.ts';
import { type Planner, rollingOutAs, seeing, without, withPools, withRollout } from './support/broken-planners.ts';

const MOST_STORIES = 3_000;
/** `npm test` finds each with the same few stories. */
const SEED = Number(process.env['PROPERTY_SEED'] ?? 1);

/** The real planner's steps, and more of them. */
const alsoDoing =
  (more: (desired: Desired, fleet: Fleet, steps: readonly Step[]) => readonly Step[]): Planner =>
  (desired, fleet, ...rest) => {
    const planned = plan(desired, fleet, ...rest);
    return { ...planned, steps: [...planned.steps, ...more(desired, fleet, planned.steps)] };
  };

const isTouched = (name: string, steps: readonly Step[]): boolean =>
  steps.some((step) => 'spec' in step && 'node' in step && step.node.metadata.name === name);

/** Tells all nodes of the pool that fit the payload of the commit, at once. */
const tellingAtOnce = (fits: (name: string, fleet: Fleet, steps: readonly Step[]) => boolean): Planner =>
  alsoDoing(({ pools }, fleet, steps) => {
    const config = pools.get('workers')?.config;
    if (config === undefined || config === null) return [];
    const { name, sha256 } = config;
    const configSource = { namespace: 'kubelet-gitops', name, sha256, uid: '', resourceVersion: '', key: PAYLOAD_KEY };
    return [...fleet.kubeletNodes.values()]
      .filter(({ metadata, spec }) => spec?.configSource?.sha256 !== sha256 && fits(metadata.name, fleet, steps))
      .filter(({ metadata }) => !isTouched(metadata.name, steps))
      .map((node): Step => ({
        step: 'assign',
        node,
        spec: { ...node.spec, pool: 'workers', configSource },
        because: '',
      }));
  });

const ofControlPlane = (name: string, { nodes }: Fleet): boolean =>
  nodes.get(name)?.labels['node-role.kubernetes.io/control-plane'] !== undefined;

const goesOnAfterHalts: Planner = (desired, fleet, ...more) => {
  const { nodes } = plan(desired, fleet, ...more);
  const halts = nodes.groups.map(({ memory }) => memory.halt);
  const blind = withRollout(desired, (rollout) => ({ ...rollout, onFailure: { threshold: 1_000, action: 'halt' } }));
  const forgotten = withPools((pool) => ({ ...pool, status: without(pool.status ?? {}, 'halt') }))(fleet);
  const planned = plan(blind, forgotten, ...more);
  const groups = planned.nodes.groups.map((group, index) => ({
    ...group,
    memory: { ...group.memory, halt: halts[index] ?? group.memory.halt },
  }));
  return { ...planned, nodes: { ...planned.nodes, groups } };
};

/** What a planner does, the law that finds it by what is written, and the planner. */
const BREAKERS: readonly (readonly [string, RegExp, Planner])[] = [
  [
    'gives every kubelet its restart as soon as it asks',
    /restart with what they have|a halted pool grants nothing|failed on one node/,
    alsoDoing((_, { kubeletNodes }, steps) =>
      [...kubeletNodes.values()].flatMap((node): readonly Step[] => {
        const [spec, seen] = [node.spec, node.status?.awaitsTurn?.seen];
        if (spec === undefined || seen === undefined || isTouched(node.metadata.name, steps)) return [];
        return [{ step: 'assign', node, spec: { ...spec, turn: { seen } }, because: '' }];
      }),
    ),
  ],
  [
    'forgets maxUnavailable',
    /maxUnavailable|try a payload/,
    rollingOutAs((rollout) => ({ ...rollout, maxUnavailable: '100%' })),
  ],
  [
    'forgets maxOnTrial',
    /try a payload/,
    rollingOutAs((rollout) => ({ ...without(rollout, 'canary'), maxOnTrial: '100%' })),
  ],
  [
    'gives places back before the probation is over',
    /maxUnavailable/,
    rollingOutAs((rollout) => (rollout.probation === 'full' ? rollout : { ...rollout, probation: '1s' })),
  ],
  [
    'gives the places of all back',
    /maxUnavailable/,
    rollingOutAs((rollout) => ({ ...without(rollout, 'probation'), maxOnTrial: 1 })),
  ],
  [
    'forgets maxUnavailablePerZone',
    /maxUnavailablePerZone/,
    rollingOutAs((rollout) => without(rollout, 'maxUnavailablePerZone')),
  ],
  [
    'tells those that join what nobody has proven',
    /try a payload|maxUnavailable/,
    tellingAtOnce((name, { kubeletNodes }) => (kubeletNodes.get(name)?.status?.promotedAt ?? null) === null),
  ],
  [
    'takes all of the control plane with the first of it',
    /one node of the control plane at a time/,
    tellingAtOnce(
      (name, fleet, steps) =>
        ofControlPlane(name, fleet) &&
        [...fleet.nodes.keys()].some((other) => ofControlPlane(other, fleet) && isTouched(other, steps)),
    ),
  ],
  [
    'changes nodes that are not Ready',
    /who is not Ready waits/,
    rollingOutAs((rollout) => ({ ...rollout, notReadyNodes: 'change' })),
  ],
  ['knows no waves', /wave|canaries/, rollingOutAs((rollout) => without(rollout, 'canary', 'steps'))],
  [
    'goes on in a suspended pool',
    /a suspended pool begins nothing/,
    seeing(withPools((pool) => ({ ...pool, metadata: without(pool.metadata, 'annotations') }))),
  ],
  ['goes on in a halted pool', /nobody enters a halted rollout/, goesOnAfterHalts],
];

describe('a planner that breaks a law of restarts', () => {
  for (const [what, law, planner] of BREAKERS) {
    it(`is found where it ${what}`, () => {
      const stories = fc.property(
        rollouts,
        fc.integer({ min: 1, max: MOST_NODES }),
        disruptions,
        fc.array(roughEvents, { minLength: 60, maxLength: 60 }),
        (rollout, nodes, disruption, events) => {
          const story = new RolloutStory(rollout, nodes, disruption);
          story.fleet.planner = planner;
          for (const event of events) {
            story.happen(event);
            try {
              lawfulPass(story);
            } catch (error) {
              if (!law.test(String(error))) return;
              throw error;
            }
          }
        },
      );
      const found = fc.check(stories, { seed: SEED, numRuns: MOST_STORIES, endOnFailure: true });
      assert.ok(found.failed, 'no story was found in which the law does not hold');
    });
  }
});
