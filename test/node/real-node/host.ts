import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CRASHES } from '../support/bad-configs.ts';
import { reportsFullDisk } from '../support/full-disk.ts';
import { type NodeUnderTest, startNodeUnderTest, type World } from '../support/node-under-test.ts';
import { LOCAL_CONFIG_FILE, STATE_DIRECTORY } from '../support/node-paths.ts';
import { say } from '../support/say.ts';

const CPU_STATE = '/var/lib/kubelet/cpu_manager_state';
/** The static policy takes no kubelet that reserves no processor time. */
const STATIC = { cpuManagerPolicy: 'static', kubeReserved: { cpu: '500m' } };

/** What a change meets on the machine: state of the kubelet's own, and a disk that is full. */
export function describeHost(world: World): void {
  describe('a node whose machine gets in the way', { concurrency: 1 }, () => {
    let node: NodeUnderTest;
    before(async () => {
      node = await startNodeUnderTest(world, { name: 'node-host', config: { maxPods: 42 } });
      // A disk of its own for the state directory, so that it can be full while the node's is not.
      await node.machine.run('mkdir', '-p', STATE_DIRECTORY);
      await node.machine.run('mount', '-t', 'tmpfs', '-o', 'size=1m,mode=700', 'state', STATE_DIRECTORY);
      // Which is gone with a boot: without this, nothing would be tried on it.
      await node.agent.set({ GUARD: 'off' });
      await node.agent.enable();
    });
    after(() => node?.stop());

    const policy = async (): Promise<unknown> =>
      (JSON.parse((await node.read(CPU_STATE)) ?? '{}') as { readonly policyName?: string }).policyName;

    it('changes the policy of the CPU manager, whose state file no kubelet of another policy starts with', async (t) => {
      assert.equal(await policy(), 'none');
      const started = performance.now();
      const name = await node.assignments.assign(STATIC);
      await node.settlesOn(name);
      say(t, 'cpuManagerPolicy none → static, promoted', started);
      assert.equal((await node.configz())['cpuManagerPolicy'], 'static');
      assert.equal(await policy(), 'static');
      assert.equal((await node.runs()).restarts, 0);
    });

    it('puts the state file back with the policy when a config fails that changed both', async (t) => {
      const before = await node.read(CPU_STATE);
      const started = performance.now();
      const name = await node.assignments.assign({ ...CRASHES, maxPods: 52 });
      const { active } = await node.rejects(name);
      say(t, 'cpuManagerPolicy static → none, crash, → static again', started);
      assert.notEqual(active?.name, 'local');
      assert.equal(await policy(), 'static');
      assert.deepEqual(JSON.parse((await node.read(CPU_STATE)) ?? ''), JSON.parse(before ?? ''));
    });

    it('keeps what it has when the disk is full, says so, and goes on when there is room', async (t) => {
      const before = await node.runs();
      const file = await node.read(LOCAL_CONFIG_FILE);
      const fill = `${STATE_DIRECTORY}/fill`;
      await node.machine.run('sh', '-c', `cat /dev/zero >${fill} 2>/dev/null; true`);
      const name = await node.assignments.assign({ maxPods: 53 });
      const status = await node.reaches('word of the full disk', reportsFullDisk);
      const storage = status.conditions?.find(({ type }) => type === 'CheckpointsIntact');
      t.diagnostic(`a full disk: error ${status.error?.reason}; condition ${storage?.status}: ${storage?.message}`);
      assert.deepEqual(await node.runs(), before, 'the kubelet was left alone');
      assert.equal(await node.read(LOCAL_CONFIG_FILE), file);
      await node.machine.run('rm', fill);
      const started = performance.now();
      const rejected = ((await node.assignments.status()).rejected ?? []).map((each) => each.name);
      assert.ok(!rejected.includes(name), 'a full disk says nothing of a config');
      await node.settlesOn(name);
      say(t, 'there is room again → promoted', started);
      assert.equal((await node.configz())['cpuManagerPolicy'], 'none');
      assert.equal(await policy(), 'none');
    });
  });
}
