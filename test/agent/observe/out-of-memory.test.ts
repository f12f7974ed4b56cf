import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countOutOfMemory } from '#agent/observe/out-of-memory.ts';

const V2 = { '/sys/fs/cgroup/cgroup.controllers': 'cpu memory' };
const events = (oom: number): string => `low 0\nhigh 0\nmax 17\noom ${oom}\noom_kill 5\noom_group_kill 0\n`;
const seen = (files: Readonly<Record<string, string>>) =>
  countOutOfMemory({ text: (path) => Promise.resolve(files[path]) });

describe('how often pods were out of memory at a limit of the kubelet', () => {
  it('is what the kernel counts for the cgroups of all pods, by either driver, and not what was killed in it for a pod’s own limit', async () => {
    const at = '/sys/fs/cgroup/kubepods.slice';
    const burstable = `${at}/kubepods-burstable.slice/memory.events.local`;
    assert.deepEqual(await seen({ ...V2, [`${at}/memory.events.local`]: events(3), [burstable]: events(0) }), {
      'kubepods.slice': 3,
      'kubepods.slice/kubepods-burstable.slice': 0,
    });
    assert.deepEqual(await seen({ ...V2, '/sys/fs/cgroup/kubepods/besteffort/memory.events.local': events(1) }), {
      'kubepods/besteffort': 1,
    });
  });

  it('is nothing on a machine without pods, and not known where the host or cgroups v2 are not seen', async () => {
    assert.deepEqual(await seen(V2), {});
    assert.equal(await seen({}), null);
  });
});
