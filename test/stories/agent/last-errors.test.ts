import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LastErrorsQuery } from '#agent/ports/last-errors.ts';
import { hasFallenBack, isIdleOn, settledNode } from '../../support/agent/whole-node-stories.ts';

const SAID = /goes back to \S+\. The kubelet’s last error: “run\.go:74\] no such cgroup”; before it: “a\.go:1\] one”$/;

describe('a trial that fails', () => {
  it('carries the kubelet’s last errors, which are asked for once, also after a restart of the agent', async () => {
    const asked: LastErrorsQuery[] = [];
    const { node, good } = await settledNode({
      fates: { 250: 'dies' },
      lastWords: (wanted) => {
        asked.push(wanted);
        return Promise.resolve(['run.go:74] no such cgroup', 'a.go:1] one']);
      },
    });
    const bad = node.assign({ maxPods: 250 });
    await node.until('on trial', () => node.status().phase === 'Trial');
    const since = node.status().trial?.since;
    await node.until('taken back', hasFallenBack(node, bad));
    assert.match(node.status().error?.message ?? '', SAID);
    assert.match(node.status().rejected?.[0]?.message ?? '', SAID);
    assert.deepEqual(
      asked.map((each) => each.since),
      [since],
    );
    const { message } = node.status().error ?? {};
    await node.stop();
    node.start();
    await node.pass(3_600_000);
    assert.equal(node.status().error?.message, message);
    node.assign({ maxPods: 100 });
    await node.until('good again', isIdleOn(node, good));
    node.assign({ maxPods: 250 });
    await node.until('known to be bad', () => node.status().error !== undefined);
    assert.equal(node.status().error?.message, message);
    assert.equal(asked.length, 1);
  });

  it('is explained by what the kubelet’s own log file has since the restart that began it', async () => {
    const asked: LastErrorsQuery[] = [];
    let marks = 0;
    const { node } = await settledNode({
      fates: { 250: 'dies' },
      lastWords: (wanted) => {
        asked.push(wanted);
        return Promise.resolve(['run.go:74] no such cgroup']);
      },
      markLog: () => Promise.resolve({ offset: (marks += 1), tail: Buffer.alloc(0) }),
    });
    marks = 0;
    const bad = node.assign({ maxPods: 250 });
    await node.until('taken back', hasFallenBack(node, bad));
    assert.equal(marks, 2, 'there and back');
    assert.deepEqual(
      asked.map(({ mark }) => mark?.offset),
      [1],
    );
  });

  it('carries them, too, where journald was held up until the node was back, and keeps them', async () => {
    let words: readonly string[] = [];
    const { node, good } = await settledNode({ fates: { 250: 'dies' }, lastWords: () => Promise.resolve(words) });
    const bad = node.assign({ maxPods: 250 });
    await node.until('on trial', () => node.status().phase === 'Trial');
    await node.until('taken back', hasFallenBack(node, bad));
    assert.equal(node.status().active?.name, good);
    assert.doesNotMatch(node.status().error?.message ?? '', /last error/);
    words = ['run.go:74] no such cgroup', 'a.go:1] one'];
    await node.pass(35_000);
    const { error, rejected } = node.status();
    assert.match(error?.message ?? '', SAID);
    assert.match(rejected?.[0]?.message ?? '', SAID);
    await node.stop();
    words = [];
    node.start();
    await node.pass(60_000);
    assert.equal(node.status().error?.message, error?.message);
    assert.equal(node.agent().state().error?.message, error?.message);
  });
});
