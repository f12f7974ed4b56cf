import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cgroupGaps } from '#agent/preflight/cgroup-gaps.ts';
import { hostWith } from './support/host-with.ts';

const V1 = '/sys/fs/cgroup';

describe('controllers that a cgroup lacks', () => {
  it('are hierarchies of version 1 that are mounted, and have no such cgroup', async () => {
    const host = await hostWith({
      [`${V1}/memory/a.slice/cgroup.procs`]: '',
      [`${V1}/pids/cgroup.procs`]: '',
      [`${V1}/cpuset/cgroup.procs`]: '',
      // Nobody asks for it.
      [`${V1}/freezer/cgroup.procs`]: '',
    });
    assert.deepEqual(await cgroupGaps('/a.slice', 1, host), ['cpuset', 'pids']);
  });

  it('are those of version 2 that the root has, and the kubelet asks for', async () => {
    const host = await hostWith({
      [`${V1}/cgroup.controllers`]: 'cpuset cpu io memory pids rdma\n',
      [`${V1}/a.slice/cgroup.controllers`]: 'memory pids\n',
      [`${V1}/b.slice/cgroup.controllers`]: 'cpuset cpu memory pids\n',
      [`${V1}/c.slice/cgroup.controllers`]: '\n',
    });
    assert.deepEqual(await cgroupGaps('/a.slice', 2, host), ['cpu', 'cpuset']);
    assert.deepEqual(await cgroupGaps('/b.slice', 2, host), []);
    assert.deepEqual(await cgroupGaps('/c.slice', 2, host), ['cpu', 'cpuset', 'memory', 'pids']);
    assert.deepEqual(await cgroupGaps('/unseen.slice', 2, host), []);
  });
});
