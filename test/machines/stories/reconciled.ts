import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { run } from '../../cli/support/run.ts';
import { say } from '../../node/support/say.ts';
import type { Reconciler } from '../support/reconciler.ts';
import type { World } from '../support/world.ts';

const DISRUPTION = {
  allow: ['restart', 'drain', 'reboot'],
  drainTimeout: '30m',
  reboot: { by: 'systemd', timeout: '1h' },
};
/** On two processors, with what a memory manager asks for: all reservations and the hard eviction threshold, to the byte. */
const STATIC = {
  cpuManagerPolicy: 'static',
  reservedSystemCPUs: '0',
  memoryManagerPolicy: 'Static',
  kubeReserved: { memory: '200Mi' },
  evictionHard: { 'memory.available': '100Mi' },
  reservedMemory: [{ numaNode: 0, limits: { memory: '300Mi' } }],
};
const REBOOTED = { maxPods: 93, kubeletCgroups: '/system.slice/kubelet.service' };

/** From a commit to a machine that was drained, rebooted, or has other state files, by both programs as they ship. */
export function describeReconciled(world: () => World): void {
  describe('with its reconciler', { concurrency: 1 }, () => {
    let reconciler: Reconciler;
    before(async () => {
      reconciler = await world().reconciler();
    });

    const isCordoned = async (): Promise<boolean> => {
      const { cluster } = world();
      const node = (await cluster.request('GET', '/api/v1/nodes/machine-1')).json() as KubeObject & {
        readonly spec: { readonly unschedulable?: boolean };
      };
      return node.spec.unschedulable === true;
    };
    const isOpen = (): Promise<true> =>
      world().node.waits('a node that takes pods', async () => !(await isCordoned()) && true);
    const stateOf = async (file: string): Promise<{ readonly policyName: string }> =>
      JSON.parse(await world().node.machine.run(`cat /var/lib/kubelet/${file}`)) as { readonly policyName: string };
    const policies = async (): Promise<readonly string[]> => {
      const [cpu, memory] = [await stateOf('cpu_manager_state'), await stateOf('memory_manager_state')];
      return [cpu.policyName, memory.policyName];
    };

    it('has a change of class reboot after one boot, drained meanwhile, by an order to systemd', async (t) => {
      const { node, comesBack } = world();
      await reconciler.settlesOn(await reconciler.push({ maxPods: 93 }, { disruption: DISRUPTION }));
      await node.pods.run('before-the-boot');
      await node.waits('a pod', async () => (await node.pods.state('default', 'before-the-boot'))?.ready);
      const commit = await reconciler.push(REBOOTED, { disruption: DISRUPTION });
      const { bootID } = await node.assignments.status();
      await node.reaches('the order to reboot', ({ trial }) => trial?.awaitsReboot === 'systemd');
      assert.equal(await isCordoned(), true);
      assert.equal(await node.pods.state('default', 'before-the-boot'), undefined, 'its pods have left');
      const { bootID: next } = await comesBack(t, 'ordered', node.machine.rebooted);
      assert.notEqual(next, bootID);
      await reconciler.settlesOn(commit);
      assert.equal((await node.configz())['kubeletCgroups'], REBOOTED.kubeletCgroups);
      assert.equal(await node.starts(), 1, 'the boot was all that started it');
      await isOpen();
      assert.equal((await node.assignments.status()).bootID, next, 'it was rebooted once');
    });

    it('has static CPU and memory managers once its pods have left, as soon as their budget lets them', async (t) => {
      const { cluster, node, agentRanOn } = world();
      const budget = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
      /** As the disruption controller would, which is not here. */
      const allow = async (disruptionsAllowed: number): Promise<void> => {
        const status = {
          observedGeneration: 1,
          disruptionsAllowed,
          currentHealthy: 1 + disruptionsAllowed,
          desiredHealthy: 1,
          expectedPods: 2,
        };
        const { status: code, text } = await cluster.request(
          'PATCH',
          `${budget}/web/status`,
          { status },
          'application/merge-patch+json',
        );
        assert.equal(code, 200, text);
      };
      await cluster.request('POST', budget, {
        metadata: { name: 'web' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
      });
      await allow(0);
      await node.pods.run('web-1', { labels: { app: 'web' } });
      await node.waits('a pod', async () => (await node.pods.state('default', 'web-1'))?.ready);
      const web = await node.pods.state('default', 'web-1');
      const starts = await node.starts();
      const commit = await reconciler.push({ ...REBOOTED, ...STATIC }, { disruption: DISRUPTION });
      await node.waits('word of the budget', async () => {
        const { out } = await run('status', '--why', '--kubeconfig', cluster.adminKubeconfig);
        return /default\/web-1 is kept by the PodDisruptionBudget web/.test(out);
      });
      assert.equal(await isCordoned(), true);
      assert.deepEqual(await node.pods.state('default', 'web-1'), web, 'it still runs');
      assert.equal(await node.starts(), starts, 'nothing was restarted for it');
      await allow(1);
      const allowed = performance.now();
      await reconciler.settlesOn(commit);
      say(t, 'the budget allows it → static managers proven', allowed);
      assert.deepEqual(await policies(), ['static', 'Static']);
      assert.equal(await node.pods.state('default', 'web-1'), undefined);
      assert.equal(await node.starts(), starts + 1);
      await isOpen();
      await agentRanOn();
    });

    it('gives a pod CPUs of its own, and goes back to no managers without it', async (t) => {
      const { node, agentRanOn } = world();
      const starts = await node.starts();
      await node.pods.run('pinned', { requests: { cpu: '1', memory: '64Mi' } });
      await node.waits('a pod', async () => (await node.pods.state('default', 'pinned'))?.ready);
      const { entries } = (await stateOf('cpu_manager_state')) as unknown as { readonly entries: object };
      assert.match(JSON.stringify(entries), /"idle":"1"/);
      const commit = await reconciler.push(REBOOTED, { disruption: DISRUPTION });
      const started = performance.now();
      await reconciler.settlesOn(commit);
      say(t, 'committed → without managers again', started);
      assert.deepEqual(await policies(), ['none', 'None']);
      assert.equal(await node.pods.state('default', 'pinned'), undefined);
      assert.equal(await node.starts(), starts + 1);
      await isOpen();
      await agentRanOn();
    });
  });
}
