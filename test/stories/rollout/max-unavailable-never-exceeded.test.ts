import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LIFECYCLE, type Lifecycle } from '#reconciler/policy/rollout/lifecycle.ts';
import { fc } from '../../support/property.ts';
import {
  DEADLY,
  disruptions,
  events,
  MOST_NODES,
  roughEvents,
  rollouts,
  RolloutStory,
} from '../../support/rollout-story.ts';
import { holds, replayFrom } from '../../support/replayable.ts';
import { EVERY_POINT, runsOf } from '../../support/sample.ts';
import { lawfulPass } from '../../support/rollout/laws.ts';

const STEPS = runsOf(200_000, 25);
const LENGTH = 125;
const PAST_PROBATION: ReadonlySet<Lifecycle> = new Set([LIFECYCLE.onTrial, LIFECYCLE.supersededOnTrial]);
/** A seed with which everything that has to come across does so in the few steps of `npm test`. */
const USUAL = 70_570_041;
const replay = replayFrom(process.env, USUAL);

describe('a rollout', () => {
  it(`never begins more than it may in ${STEPS} steps of anything that can happen`, (t) => {
    let steps = 0;
    const counts = new Map<string, number>();
    const done = new Map<string, number>();
    holds(
      'a rollout never begins more than it may',
      fc.property(
        rollouts,
        fc.integer({ min: 1, max: MOST_NODES }),
        disruptions,
        fc.array(roughEvents, { minLength: LENGTH, maxLength: LENGTH }),
        (rollout, nodes, disruption, story) => {
          const told = new RolloutStory(rollout, nodes, disruption);
          for (const event of story) {
            told.happen(event);
            counts.set(event.event, (counts.get(event.event) ?? 0) + 1);
            const planned = lawfulPass(told);
            for (const { step, ...more } of planned.steps) {
              const isReboot = 'spec' in more && 'reboot' in more.spec;
              const isGrant = 'spec' in more && 'turn' in more.spec && step === 'assign';
              const what = isReboot ? 'reboot' : isGrant ? 'grant' : step;
              done.set(what, (done.get(what) ?? 0) + 1);
            }
            const [ofPool] = planned.nodes.groups;
            const gaveBack =
              ofPool?.decisions.filter(({ member: { lifecycle } }) => PAST_PROBATION.has(lifecycle)) ?? [];
            if (gaveBack.length > 0) done.set('probation', (done.get('probation') ?? 0) + 1);
            const { generation = 0 } = ofPool?.memory.rollout ?? {};
            if (generation > 0) done.set('generation', (done.get('generation') ?? 0) + 1);
            steps += 1;
          }
        },
      ),
      STEPS / LENGTH,
      replay,
    );
    t.diagnostic(`${steps} steps, seed ${replay.seed}: ${JSON.stringify(Object.fromEntries(counts))}`);
    t.diagnostic(`written: ${JSON.stringify(Object.fromEntries(done))}`);
    assert.ok(steps >= STEPS);
    if (replay.seed !== USUAL && !EVERY_POINT) return;
    assert.equal([...counts.values()].filter((count) => count > STEPS / 500).length, 18);
    for (const what of ['reboot', 'cordon', 'evict', 'uncordon', 'untaint', 'grant', 'probation', 'generation']) {
      assert.ok((done.get(what) ?? 0) > (EVERY_POINT ? 20 : 0), `${what} came across: ${done.get(what)}`);
    }
  });

  it('reaches everybody with a good payload in the end, whatever went before', () => {
    holds(
      'a rollout reaches everybody in the end',
      fc.property(
        rollouts.filter(({ canary }) => canary?.selector === undefined),
        fc.integer({ min: 1, max: MOST_NODES }),
        fc.array(events, { maxLength: 60 }),
        (rollout, nodes, story) => {
          const told = new RolloutStory(rollout, nodes);
          for (const event of story) {
            told.happen(event);
            told.fleet.reconcile();
          }
          told.happen({ event: 'resume' });
          for (let node = 0; node < MOST_NODES; node += 1) told.happen({ event: 'ready', node });
          told.commit(104);
          for (let round = 0; round < 120; round += 1) {
            told.fleet.rounds(1);
            told.happen({ event: 'time', minutes: 3 });
          }
          const { phase, message } = told.fleet.reconcile().pools.get('workers') ?? {};
          const members = [...told.fleet.fleet.nodes.values()].filter(({ labels }) => labels['pool'] === 'workers');
          assert.equal(phase, members.length === 0 ? 'Empty' : 'Settled', message);
          assert.deepEqual(told.fleet.reconcile().steps, []);
        },
      ),
      runsOf(300, 5),
      replay,
    );
  });

  it('that is to be taken back leaves nobody with a payload that fails, and is not begun again', () => {
    holds(
      'a rollout that is taken back leaves nobody with it',
      fc.property(rollouts, fc.integer({ min: 2, max: MOST_NODES }), (rollout, nodes) => {
        const told = new RolloutStory({ ...rollout, onFailure: { threshold: 1, action: 'revert' } }, nodes);
        const run = (): void => {
          for (let round = 0; round < 100; round += 1) {
            told.fleet.rounds(1);
            told.happen({ event: 'time', minutes: 6 });
          }
        };
        run();
        const good = told.fleet.fleet.pools.get('workers')?.status?.settled?.sha256;
        told.commit(DEADLY);
        run();
        const ran = [...told.fleet.fleet.kubeletNodes.values()].map(({ spec }) => spec?.configSource?.sha256);
        assert.ok(good === undefined || ran.every((sha256) => sha256 === good || sha256 === undefined));
        assert.deepEqual(told.fleet.reconcile().steps, []);
      }),
      runsOf(100, 5),
      replay,
    );
  });
});
