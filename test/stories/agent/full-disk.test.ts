import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_FILE } from '../../support/agent/fake-kubelet.ts';
import type { Point, InjectedFault } from '../../support/agent/crash-injection.ts';
import { createWholeNode, STATE } from '../../support/agent/whole-node.ts';
import { isIdleOn } from '../../support/agent/whole-node-stories.ts';

const QUARTER_HOUR_MS = 15 * 60_000;

describe('a disk that is full says nothing of a config', () => {
  it('a trial whose guard finds no room is begun when there is some', async () => {
    const node = createWholeNode({ guard: true });
    await node.stop();
    let isFull = true;
    const tries: string[] = [];
    const strike = ({ call, path }: Point): InjectedFault => {
      if (!isFull || call !== 'create' || !path.startsWith(`${STATE}/guard/`)) return 'none';
      tries.push(path);
      return 'full';
    };
    node.start(strike);
    const name = node.assign({ maxPods: 150 });
    await node.until('told', () => node.status().error?.reason === 'GuardFailed');
    assert.match(node.status().error?.message ?? '', /the disk is full/);
    await node.pass(QUARTER_HOUR_MS);
    assert.equal(node.status().phase, 'Trial');
    assert.equal(node.status().rejected, undefined);
    assert.equal(node.status().error?.reason, 'GuardFailed');
    assert.equal(node.status().conditions?.find(({ type }) => type === 'Guarded')?.reason, 'GuardFailed');
    assert.equal(node.kubelet.starts(), 1);
    assert.ok(tries.length < 30, `${tries.length} tries in a quarter of an hour`);
    isFull = false;
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.status().error, undefined);
    assert.equal(node.kubelet.starts(), 2);
  });

  it('a config whose file finds no room is installed when there is some, without a guard as well', async () => {
    const node = createWholeNode({ dropIns: false });
    await node.stop();
    let isFull = true;
    node.start(({ call, path }) => (isFull && call === 'create' && path.startsWith(CONFIG_FILE) ? 'full' : 'none'));
    const name = node.assign({ maxPods: 150 });
    await node.until('told', () => node.status().error?.reason === 'CannotInstall');
    await node.pass(QUARTER_HOUR_MS);
    assert.deepEqual([node.status().phase, node.status().rejected, node.kubelet.starts()], ['Trial', undefined, 1]);
    isFull = false;
    await node.until('promoted', isIdleOn(node, name));
  });

  it('a trial on a disk that fills up meanwhile is watched until its end can be written down', async () => {
    const node = createWholeNode({ guard: true });
    const name = node.assign({ maxPods: 150 });
    await node.until('judged', () => (node.status().trial?.healthySeconds ?? 0) > 0);
    node.disk.failAfter(0);
    await node.pass(QUARTER_HOUR_MS);
    assert.deepEqual([node.status().phase, node.maxPods()], ['Trial', 150]);
    assert.equal(node.status().rejected, undefined);
    node.disk.failAfter(null);
    await node.until('promoted', isIdleOn(node, name));
    assert.equal(node.kubelet.starts(), 2);
  });
});
