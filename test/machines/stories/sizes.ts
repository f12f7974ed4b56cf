import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { say } from '../../node/support/say.ts';
import type { MachineSize } from '../support/machine.ts';
import { OTHER_NODE, type World } from '../support/world.ts';
import { column } from '../../support/columns.ts';

export const LARGE: MachineSize = { memory: 3072, processors: 3 };
const GROWN: MachineSize = { memory: 2560, processors: 2 };

/** A formula that is known, and one of our own. */
const COMPUTED = { profile: 'gke', computed: { systemReserved: { memory: 'memory * 0.05' } } };
/** By the formula's own table: 6 % of the first core, 1 % of the second, half a percent of the third. */
const MILLICORES: Readonly<Record<string, number>> = { '2': 70, '3': 75 };
/** The kubelet's own, in mebibytes. */
const EVICTION_THRESHOLD = 100;
/** A class is a 32nd of the next power of two wide: at most this share of its lower end. */
const WIDEST_CLASS = 1 / 16;

/** One pool over machines of two sizes, one of which is then made larger. */
export function describeSizes(world: () => World): void {
  describe('beside a larger one', { concurrency: 1 }, () => {
    let large: World;
    before(async () => {
      large = await world().other();
    });
    after(async () => {
      await large?.node.stop();
      // Nobody is to wait for what it was assigned.
      await world().cluster.request('DELETE', `/api/v1/nodes/${OTHER_NODE}`);
    });

    it('has what its size asks for, and the other what that one’s asks for, one after the other', async (t) => {
      const reconciler = await world().reconciler();
      const both = [world(), large];
      const starts = await Promise.all(both.map(({ node }) => node.starts()));
      const committed = performance.now();
      const commit = await reconciler.push({ maxPods: 97 }, { computed: COMPUTED });
      let most = 0;
      const pool = await reconciler.settlesOn(commit, async () => {
        const statuses = await Promise.all(both.map(({ node }) => node.assignments.status()));
        most = Math.max(most, statuses.filter(({ trial }) => (trial ?? undefined) !== undefined).length);
      });
      say(t, 'committed → both settled', committed);
      assert.equal(most, 1, 'machines on trial at the same time');
      assert.deepEqual(column(pool.status?.classes, 'nodes'), [1, 1]);
      assert.notEqual(await reservesItsShare(world(), pool), await reservesItsShare(large, pool));
      assert.deepEqual(
        await Promise.all(both.map(({ node }) => node.starts())),
        starts.map((count) => count + 1),
      );
      for (const { agentRanOn } of both) await agentRanOn();
    });

    it('keeps what it has when it is made larger, and gets what its new class has in its turn', async (t) => {
      const { node, comesBack } = world();
      const reconciler = await world().reconciler();
      const { active: had } = await node.assignments.status();
      const startsOfOther = await large.node.starts();
      const held = await reconciler.push({ maxPods: 97 }, { computed: COMPUTED, suspend: true });
      await node.waits('a pool that starts nothing', async () => (await reconciler.pool())?.status?.commit === held);

      await node.machine.runLater('systemctl poweroff');
      await comesBack(t, 'made larger', () => node.machine.turnOn(GROWN));
      await node.waits('word of its new class, and of its turn', async () => {
        const { classes = [], holds = [] } = (await reconciler.pool())?.status ?? {};
        const isNew = classes.length === 2 && classes.every(({ configName }) => configName !== had?.name);
        return isNew && holds.some(({ reason, examples }) => reason === 'suspended' && examples.includes(node.name));
      });
      assert.equal((await node.assignments.status()).active?.name, had?.name);
      assert.equal(await node.starts(), 1, 'the boot was all that started it');

      const allowed = performance.now();
      const commit = await reconciler.push({ maxPods: 97 }, { computed: COMPUTED });
      const pool = await reconciler.settlesOn(commit);
      say(t, 'its turn → settled', allowed);
      assert.notEqual(await reservesItsShare(world(), pool), had?.name);
      assert.equal(await node.starts(), 2);
      assert.equal(await large.node.starts(), startsOfOther, 'the other one had no part in it');
      for (const { agentRanOn } of [world(), large]) await agentRanOn();
    });
  });
}

interface Amounts {
  readonly cpu: string;
  readonly memory: string;
}

/**
 * That a node runs what the formulas make of its class, that its class is that of its machine, and that its Node keeps so much back from pods.
 *
 * @returns the name of its config source
 */
async function reservesItsShare({ cluster, node }: World, { status }: KubeletPool): Promise<string> {
  const { active } = await node.assignments.status();
  const own = status?.classes?.find(({ configName }) => configName === active?.name);
  const [, cores = '', mebibytes = ''] = /^cpu=(\d+),memory=(\d+)Mi$/.exec(own?.name ?? '') ?? [];
  const memory = Number(mebibytes);
  const reserved = { kube: Math.floor(memory / 4), system: Math.floor(memory / 20) };
  const { kubeReserved, systemReserved } = await node.configz();
  assert.deepEqual(
    { kubeReserved, systemReserved },
    {
      kubeReserved: { cpu: `${MILLICORES[cores]}m`, memory: `${reserved.kube}Mi` },
      systemReserved: { memory: `${reserved.system}Mi` },
    },
  );
  const sizes = async (): Promise<{ readonly capacity: Amounts; readonly allocatable: Amounts }> => {
    const answer = await cluster.request('GET', `/api/v1/nodes/${node.name}`);
    return (answer.json() as { readonly status: { readonly capacity: Amounts; readonly allocatable: Amounts } }).status;
  };
  const { capacity } = await sizes();
  assert.equal(capacity.cpu, cores);
  const beyond = kibibytes(capacity) / 1024 - memory;
  assert.ok(beyond >= 0 && beyond < memory * WIDEST_CLASS, `${capacity.memory} in ${own?.name}`);
  await node.waits('what is left for pods', async () => {
    const { allocatable } = await sizes();
    return (
      allocatable.cpu === `${Number(cores) * 1000 - (MILLICORES[cores] ?? 0)}m` &&
      kibibytes(capacity) - kibibytes(allocatable) === (reserved.kube + reserved.system + EVICTION_THRESHOLD) * 1024
    );
  });
  return active?.name ?? '';
}

function kibibytes({ memory }: Amounts): number {
  const [, amount] = /^(\d+)Ki$/.exec(memory) ?? assert.fail(memory);
  return Number(amount);
}
