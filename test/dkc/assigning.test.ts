import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import { appendHash } from '#shared/contract/config-map-hash.ts';
import { ON_GOOD, refusing, SPEC_CHANGES, SOURCE } from './support/spec-changes.ts';
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

describe('a node that is told one thing after another', () => {
  it('whatever it is told after whatever else, it stands where it would without that', async () => {
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
  });

  it('goes back to the good one of two keys of one ConfigMap', async () => {
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
  });

  it('a config that was proven runs on when its ConfigMap says something else, restarts of everything included', async () => {
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
  });

  it('a ConfigMap that was made again with anything else in it is taken by no node, and by all when it is right', async () => {
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
  });
});
