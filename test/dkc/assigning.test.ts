import assert from 'node:assert/strict';
import type { KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import { appendHash } from '#shared/contract/config-map-hash.ts';
import { STATE } from '../support/agent/whole-node.ts';
import { see, table } from './scenario.ts';
import { nameOf, ON_GOOD, refusing, SPEC_CHANGES, SOURCE } from './support/spec-changes.ts';
import {
  GOOD,
  INVALID,
  ON_LOCAL,
  OTHER_GOOD,
  SHORT,
  sourceOf,
  expectedNodeOn,
  stepped,
  UNREADABLE,
} from './support/steps.ts';

/** A walk through all ordered pairs of so many things, each once: every step is one pair. */
function everyPair(count: number): readonly number[] {
  const walk = [0];
  for (let low = 0; low < count; low += 1) {
    for (let high = low + 1; high < count; high += 1) walk.push(high, low);
    if (low + 1 < count) walk.push(low + 1);
  }
  return walk;
}

export const scenarios = see('a node that is told one thing after another', [
  {
    dkc: 157,
    title: 'where nothing is assigned it runs its own config, and says nothing else',
    async see() {
      const on = stepped();
      on.assign(GOOD);
      await on.rest();
      on.unassign();
      await on.rest();
      on.expect(ON_LOCAL);
      assert.equal(on.node.kubelet.orders.at(-1), 'back to local: no config is assigned any more');
    },
  },
  {
    dkc: 167,
    title: 'a good config is active while it is on trial, and good afterwards',
    async see() {
      const on = stepped();
      const name = on.assign(GOOD);
      await on.node.until('on trial', () => on.node.status().phase === 'Trial' && on.node.maxPods() === 100);
      await on.node.pass(4_000);
      on.expect({ assigned: name, active: name, good: 'local', maxPods: 100 });
      await on.rest();
      on.expect(ON_GOOD);
      assert.equal(on.node.kubelet.starts(), 2);
    },
  },
  ...table(
    168,
    [
      ['unreadable', UNREADABLE],
      ['invalid', INVALID],
    ] as const,
    ([what]) => `an ${what} config is assigned and never active: the kubelet does not even hear of it`,
    async ([, payload]) => {
      const on = stepped();
      on.assign(payload);
      await on.rest();
      on.expect(refusing(payload, ON_LOCAL));
      assert.match(on.node.status().error?.message ?? '', /was refused, and the kubelet left alone/);
      assert.equal(on.node.kubelet.starts(), 1);
    },
  ),
  {
    dkc: 170,
    title: 'whatever it is told after whatever else, it stands where it would without that',
    async see() {
      const on = stepped();
      await on.node.pass(1_000);
      let before = ON_LOCAL;
      let starts = 1;
      const walk = everyPair(SPEC_CHANGES.length);
      assert.equal(
        new Set(walk.map((to, step) => `${walk[step - 1]} ${to}`)).size,
        SPEC_CHANGES.length ** 2 - SPEC_CHANGES.length + 1,
      );
      for (const index of walk) {
        const { say, stands } = SPEC_CHANGES[index] ?? assert.fail();
        say(on);
        await on.rest();
        const { error: _, ...standing } = before;
        const after = stands(standing);
        on.expect(after);
        if (after.active !== before.active) starts += 1;
        assert.equal(on.node.kubelet.starts(), starts);
        before = after;
      }
    },
  },
  {
    dkc: 171,
    title: 'a config that was held long is what it goes back to, and stays on',
    async see() {
      const on = stepped({ fates: { 150: 'dies' } });
      on.assign(GOOD);
      await on.rest();
      await on.node.pass(12 * 60_000);
      on.expect(ON_GOOD);
      for (const [payload, error] of [
        [UNREADABLE, 'ConfigInvalid'],
        [OTHER_GOOD, 'CrashLoop'],
      ] as const) {
        on.assign(payload);
        await on.rest();
        on.expect({ ...ON_GOOD, assigned: nameOf(payload), error });
        on.assign(GOOD);
        await on.rest();
        on.expect(ON_GOOD);
      }
    },
  },
  {
    dkc: 172,
    title: 'the same where the good and the bad config are two keys of one ConfigMap',
    async see() {
      const on = stepped({ fates: { 150: 'dies' } });
      const data = { kubelet: GOOD, next: OTHER_GOOD };
      const name = `general-${appendHash({ name: 'general', data })}`;
      on.node.kube.put('configmaps', { metadata: { name, namespace: 'kubelet-gitops' }, data });
      const spec = (key: 'kubelet' | 'next'): KubeletNodeSpec => ({
        configSource: sourceOf(name, data[key], { key }),
        trial: SHORT,
      });
      on.spec(spec('kubelet'));
      await on.rest();
      on.expect(expectedNodeOn(name, 100));
      on.spec(spec('next'));
      await on.rest();
      on.expect({ ...expectedNodeOn(name, 100), error: 'CrashLoop' });
      assert.equal(on.node.status().lastKnownGood?.sha256, SOURCE.sha256);
      on.spec(spec('kubelet'));
      await on.rest();
      on.expect(expectedNodeOn(name, 100));
    },
  },
  {
    dkc: 173,
    title: 'the config that proves itself after another takes its place as the good one',
    async see() {
      const on = stepped();
      for (const [payload, maxPods] of [
        [GOOD, 100],
        [OTHER_GOOD, 150],
      ] as const) {
        on.assign(payload);
        await on.rest();
        await on.node.pass(12 * 60_000);
        on.expect(expectedNodeOn(nameOf(payload), maxPods));
      }
    },
  },
  {
    dkc: 174,
    title:
      'of two configs by turns, a hundred and one times, every one is adopted, with one restart, and nothing piles up',
    async see() {
      const on = stepped();
      const files = async (): Promise<number> => Object.keys(on.node.disk.tree()).length;
      let atFirst: number | undefined;
      for (let change = 0; change <= 100; change += 1) {
        const [payload, maxPods] = change % 2 === 0 ? ([GOOD, 100] as const) : ([OTHER_GOOD, 150] as const);
        on.assign(payload);
        await on.rest();
        on.expect(expectedNodeOn(nameOf(payload), maxPods));
        assert.equal(on.node.kubelet.starts(), change + 2);
        assert.equal(on.node.status().rejected, undefined);
        if (change === 1) atFirst = await files();
        if (change > 1) assert.equal(await files(), atFirst);
      }
      assert.equal((await on.node.disk.list(`${STATE}/checkpoints`)).length, 1);
    },
  },
  {
    dkc: 176,
    title: 'a config that was proven runs on when its ConfigMap says something else, restarts of everything included',
    async see() {
      const on = stepped();
      const name = on.assign(GOOD);
      await on.rest();
      const overwritten = (text: string): void =>
        on.node.kube.put('configmaps', { metadata: { name, namespace: 'kubelet-gitops' }, data: { kubelet: text } });
      overwritten(UNREADABLE);
      await on.node.pass(3_600_000);
      on.expect(ON_GOOD);
      assert.equal(on.node.kubelet.starts(), 2);
      await on.stop();
      on.node.reboot();
      on.node.start();
      await on.node.pass(600_000);
      on.expect(ON_GOOD);
      overwritten(GOOD);
      await on.node.pass(600_000);
      on.expect(ON_GOOD);
      assert.equal(on.node.kubelet.starts(), 3, 'the boot was the third');
    },
  },
  {
    dkc: 177,
    title: 'a ConfigMap that was made again with anything else in it is taken by no node, and by all when it is right',
    async see() {
      for (const [was, becomes] of [GOOD, UNREADABLE, INVALID].flatMap((one) =>
        [GOOD, UNREADABLE, INVALID].map((other) => [one, other] as const),
      )) {
        const on = stepped();
        const name = on.assign(was);
        await on.rest();
        const before = was === GOOD ? ON_GOOD : refusing(was, ON_LOCAL);
        on.expect(before);
        on.node.kube.remove('configmaps', name);
        const metadata = { name, namespace: 'kubelet-gitops', uid: 'uid-again' };
        on.node.kube.put('configmaps', { metadata, data: { kubelet: becomes } });
        // The reconciler says where the bytes are now; what they have to be it says again.
        on.spec({ configSource: sourceOf(name, was, { uid: 'uid-again', resourceVersion: '8' }), trial: SHORT });
        await on.rest();
        await on.node.pass(60_000);
        on.expect(before);
        assert.equal(on.node.kubelet.starts(), was === GOOD ? 2 : 1);
      }
    },
  },
  {
    dkc: 178,
    title: 'a ConfigMap that is gone, and comes back, is nothing that a node which has it has to hear of',
    async see() {
      const on = stepped();
      const name = on.assign(GOOD);
      await on.rest();
      on.node.kube.remove('configmaps', name);
      await on.node.pass(3_600_000);
      on.expect(ON_GOOD);
      on.assign(GOOD);
      await on.node.pass(600_000);
      on.expect(ON_GOOD);
      assert.equal(on.node.kubelet.starts(), 2);
    },
  },
]);
