import assert from 'node:assert/strict';
import { hasFallenBack, isIdleOn } from '../support/agent/whole-node-stories.ts';
import { payloadOf, STATE } from '../support/agent/whole-node.ts';
import type { InjectedFault } from '../support/agent/crash-injection.ts';
import { EVERY_POINT } from '../support/sample.ts';
import { see } from './scenario.ts';
import { GOOD, LOCAL_PODS, ON_LOCAL, OTHER_GOOD, expectedNodeOn, stepped, type Stepped } from './support/steps.ts';

const META = ['assigned', 'last-known-good', 'trial', 'rejected'] as const;
const DAMAGE = ['', '{', '\0\0\0', 'apiVersion: v1\nkind: Pod\n', 'a: *b'] as const;

async function settled(options: Parameters<typeof stepped>[0] = {}): Promise<{ on: Stepped; good: string }> {
  const on = stepped(options);
  const good = on.assign(GOOD);
  await on.rest();
  return { on, good };
}

const condition = (on: Stepped, type: string): string | undefined =>
  on.node.status().conditions?.find((each) => each.type === type)?.status;

export const scenarios = see('harm that was done to a node', [
  {
    dkc: 179,
    title: 'whatever a file of the state says, the node comes up with what it ran, and says that the file is damaged',
    async see() {
      for (const name of META) {
        for (const damage of DAMAGE) {
          // An empty reference says local, and is as good as any other.
          if (damage === '' && (name === 'assigned' || name === 'last-known-good')) continue;
          const { on, good } = await settled();
          await on.stop();
          on.node.disk.plant(`${STATE}/meta/${name}`, damage);
          on.node.start();
          await on.node.until('told', () => condition(on, 'CheckpointsIntact') === 'False');
          await on.node.until('well', isIdleOn(on.node, good));
          await on.node.pass(600_000);
          on.expect(expectedNodeOn(good, 100));
          assert.ok(on.node.kubelet.starts() <= 3, `${name}: one start more at most`);
        }
      }
    },
  },
  {
    dkc: 180,
    title: 'where the good config is damaged when it is needed, the node runs its own, and says which one failed',
    async see() {
      const { on, good } = await settled({ fates: { 150: 'dies' } });
      on.assign(OTHER_GOOD);
      await on.node.until('on trial', () => on.node.status().phase === 'Trial' && on.node.maxPods() === 150);
      // With the API server it would fetch the good one again.
      on.node.kube.setAway(true);
      // An agent that lives writes back what it knows.
      await on.node.stop();
      on.node.disk.plant(`${STATE}/checkpoints/uid-${good}/7/kubelet`, payloadOf({ maxPods: 101 }));
      on.node.start();
      await on.node.until('on local', () => on.node.maxPods() === LOCAL_PODS && on.node.kubelet.isHealthy());
      await on.node.pass(60_000);
      on.node.kube.setAway(false);
      await on.rest();
      await on.node.until('told', () => on.node.status().error?.reason === 'FallbackFailed');
      assert.match(
        on.node.status().error?.message ?? '',
        new RegExp(`${good}, the last known good config, failed too`),
      );
      assert.deepEqual([on.node.maxPods(), on.node.status().active?.name], [LOCAL_PODS, 'local']);
    },
  },
  {
    dkc: 181,
    title: 'a config with which the kubelet keeps dying is taken back, and never tried again until there is another',
    async see() {
      const { on, good } = await settled({ fates: { 150: 'dies', 160: 'dies' } });
      const bad = on.assign(OTHER_GOOD);
      await on.node.until('taken back', hasFallenBack(on.node, bad));
      const taken = { ...expectedNodeOn(good, 100), assigned: bad, error: 'CrashLoop' };
      on.expect(taken);
      const starts = on.node.kubelet.starts();
      await on.stop();
      on.node.start();
      await on.node.pass(3_600_000);
      on.expect(taken);
      // Another commit, the same content.
      on.assign(OTHER_GOOD);
      await on.node.pass(600_000);
      on.expect(taken);
      assert.equal(on.node.kubelet.starts(), starts);
      const next = on.assign(payloadOf({ maxPods: 160 }));
      await on.node.until('tried', hasFallenBack(on.node, next));
      assert.deepEqual(
        on.node.status().rejected?.map(({ name }) => name),
        [bad, next],
      );
    },
  },
  {
    dkc: 195,
    title: 'a disk that is full when the checkpoint is written leaves all as it is, and says so',
    async see() {
      for (const effects of [0, 1, 2, 3]) {
        const { on, good } = await settled();
        on.node.disk.failAfter(effects);
        const name = on.assign(OTHER_GOOD);
        await on.node.pass(300_000);
        assert.equal(on.node.maxPods(), 100);
        assert.equal(on.node.kubelet.starts(), 2);
        assert.equal(on.node.agent().state().lastKnownGood?.source.name, good);
        const isTold =
          on.node.status().error?.reason === 'CheckpointFailed' || condition(on, 'CheckpointsIntact') === 'False';
        assert.ok(isTold, `after ${effects} writes: ${JSON.stringify(on.node.status())}`);
        on.node.disk.failAfter(null);
        await on.node.until('promoted', isIdleOn(on.node, name));
      }
    },
  },
  {
    dkc: 196,
    title: 'an agent that ends before any of its writes, or before the restart, is gone on with by the next one',
    async see(t) {
      let points = 0;
      for (let last = 0; ; last += EVERY_POINT ? 1 : 5) {
        const { on, good } = await settled();
        await on.stop();
        let count = 0;
        let died = false;
        const strike = (): InjectedFault => {
          died ||= count === last;
          count += 1;
          return count > last ? 'death' : 'none';
        };
        on.node.start(strike);
        const name = on.assign(OTHER_GOOD);
        await on.node.pass(120_000);
        assert.ok([100, 150].includes(Number(on.node.maxPods())));
        on.node.kill();
        on.node.start();
        await on.node.until(`promoted after ${last} points`, isIdleOn(on.node, name));
        assert.ok(on.node.kubelet.starts() <= 4, `${on.node.kubelet.starts()} starts after ${last} points`);
        assert.notEqual(good, name);
        await on.stop();
        points = last;
        if (!died) break;
      }
      t.diagnostic(`${points} points of one change`);
      assert.ok(points > 20, String(points));
    },
  },
  {
    dkc: 197,
    title: 'old checkpoints go, and those that are assigned, active or good stay',
    async see() {
      const { on } = await settled({ fates: { 150: 'dies' } });
      const held = async (): Promise<readonly string[]> => on.node.disk.list(`${STATE}/checkpoints`);
      const uids = (...names: readonly (string | undefined)[]): readonly string[] =>
        [...new Set(names)].map((name) => `uid-${name}`).toSorted(byText);
      for (const maxPods of [110, 120, 130]) {
        const name = on.node.assign({ maxPods });
        await on.node.until('promoted', isIdleOn(on.node, name));
        assert.deepEqual(await held(), uids(name));
      }
      const good = on.node.status().active?.name;
      const bad = on.assign(OTHER_GOOD);
      await on.node.until('on trial', () => on.node.status().phase === 'Trial');
      assert.deepEqual((await held()).toSorted(byText), uids(good, bad));
      await on.rest();
      assert.deepEqual((await held()).toSorted(byText), uids(good, bad), 'what is rejected is still assigned');
      on.unassign();
      await on.rest();
      on.expect(ON_LOCAL);
      assert.deepEqual(await held(), []);
    },
  },
]);

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
