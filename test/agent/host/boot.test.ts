import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podUidIn } from '#agent/host/boot.ts';

const UID = '0a1b2c3d-0000-1111-2222-333344445555';
const line = (root: string, place: string): string => `741 733 8:1 ${root} ${place} rw,relatime - ext4 /dev/sda1 rw\n`;
const REST = line('/', '/') + line('/lib/kubelet', '/var/lib/kubelet');

describe('the uid of the agent’s own pod', () => {
  for (const [what, mountinfo, uid] of [
    ['by the file of hosts', line(`/var/lib/kubelet/pods/${UID}/etc-hosts`, '/etc/hosts'), UID],
    ['on a partition of its own', line(`/kubelet/pods/${UID}/etc-hosts`, '/etc/hosts'), UID],
    ['by its last words', line(`/var/lib/kubelet/pods/${UID}/containers/agent/1f2e`, '/dev/termination-log'), UID],
    [
      'not that of others below the kubelet’s directory',
      `750 741 0:99 / /var/lib/kubelet/pods/${UID}/volumes/kubernetes.io~projected/token rw - tmpfs tmpfs rw\n`,
      '',
    ],
    ['of an agent in no pod', '', ''],
  ] as const) {
    it(`is told ${what}`, () => assert.equal(podUidIn(REST + mountinfo), uid));
  }
});
