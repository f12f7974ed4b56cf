import assert from 'node:assert/strict';
import { after, before, type TestContext } from 'node:test';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { type ControlPlane, startControlPlane } from '../../cluster/support/control-plane.ts';
import { installManifests } from '../../cluster/support/programs.ts';
import { LOCAL_CONFIG_FILE } from '../../node/support/node-paths.ts';
import { say } from '../../node/support/say.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { type MachineNode, type MachineNodeOptions, startMachineNode } from './machine-node.ts';
import type { PodState } from './pods.ts';
import { type Reconciler, startReconciler } from './reconciler.ts';
import type { MachineSize } from './machine.ts';
import { machineSkipReason } from './tree.ts';

/** What a machine shares its cluster with. */
interface Beside {
  /** Started when it is first asked for. */
  readonly reconciler: () => Promise<Reconciler>;
  /** The other machine: it boots while the first stories are told. */
  readonly other: () => Promise<World>;
}

/** A machine in a cluster, and what all stories ask of it. */
export interface World extends Beside {
  readonly cluster: ControlPlane;
  readonly node: MachineNode;
  /** Nobody started a container of the agent's pod again, and nobody had to make another pod. */
  readonly agentRanOn: () => Promise<void>;
  /**
   * Resolves when the agent has reported since, from another container of the same pod: until then the objects say what was true
   * before.
   *
   * @param boots resolves when the machine has booted again
   */
  readonly comesBack: (t: TestContext, what: string, boots: () => Promise<void>) => Promise<KubeletNodeStatus>;
  readonly cutPower: (t: TestContext) => Promise<void>;
  /** Has another pod in place of the agent's. Resolves when it is Ready. */
  readonly renewAgent: () => Promise<void>;
  /** The kubelet's config file. */
  readonly localFile: () => Promise<string>;
}

export interface MachineOptions extends Pick<MachineNodeOptions, 'credentials'> {
  /** More flags for the kube-apiserver. */
  readonly apiServerArgs?: readonly string[];
  /** There is another machine, of this size. */
  readonly other?: MachineSize;
  readonly stories: readonly ((world: () => World) => void)[];
}

export const NODE = 'machine-1';
export const OTHER_NODE = 'machine-2';

/**
 * Runs stories on a node that boots: a kernel of its own with cgroups v2, systemd, containerd 2 and the newest kubelet as kubeadm
 * lays it out, with the agent as the pod of the DaemonSet, and a disk that keeps what it was told to keep.
 */
export async function describeMachine(title: string, options: MachineOptions): Promise<void> {
  const { apiServerArgs = [], other: size, stories, ...asked } = options;
  describeOrSkip(title, { skip: await machineSkipReason(), concurrency: 1 }, () => {
    let cluster: ControlPlane;
    let world: World | undefined;
    let other: Promise<World> | undefined;
    let reconciler: Promise<Reconciler> | undefined;
    const present = (): World => world ?? assert.fail('there is no machine');
    const beside: Beside = {
      reconciler: () => (reconciler ??= startReconciler(cluster, present().node)),
      other: () => other ?? assert.fail('there is no other machine'),
    };
    const start = async (name: string, machine: MachineNodeOptions): Promise<World> =>
      createWorld(cluster, await startMachineNode(cluster, name, machine), beside);
    before(async () => {
      cluster = await startControlPlane({ apiServerArgs });
      await installManifests(cluster);
      world = await start(NODE, asked);
      if (size === undefined) return;
      other = start(OTHER_NODE, { size });
      // The stories that ask for it fail.
      other.catch(() => undefined);
    });
    after(async () => {
      await reconciler?.then(({ stop }) => stop()).catch(() => undefined);
      await other?.then(({ node }) => node.stop()).catch(() => undefined);
      await world?.node.stop();
      await cluster?.stop();
    });
    for (const tell of stories) tell(present);
  });
}

/** Resolves when the agent's pod is Ready. */
async function createWorld(cluster: ControlPlane, node: MachineNode, beside: Beside): Promise<World> {
  const readyAgent = (): Promise<PodState> =>
    node.waits('the agent’s pod to be Ready', async () => {
      const now = await node.pods.agent();
      return now?.ready === true && now;
    });
  let agent = await readyAgent();
  const comesBack: World['comesBack'] = async (t, what, boots) => {
    const [then, started] = [agent, performance.now()];
    await boots();
    // What it said before it went down is older.
    const since = Date.now();
    say(t, `${what} → booted`, started);
    agent = await node.waits('the agent’s pod to run again', async () => {
      const now = await node.pods.agent();
      return now?.ready === true && now.restarts > then.restarts && now;
    });
    assert.equal(agent.uid, then.uid);
    const status = await node.reaches(
      'a report from after the boot',
      ({ heartbeat }) => Date.parse(heartbeat ?? '') > since,
    );
    say(t, `${what} → the agent has reported`, started);
    return status;
  };
  return {
    ...beside,
    cluster,
    node,
    comesBack,
    agentRanOn: async () => assert.deepEqual(await node.pods.agent(), agent),
    cutPower: async (t) => void (await comesBack(t, 'power cut', node.machine.cutPower)),
    async renewAgent() {
      await node.pods.renewAgent();
      agent = await readyAgent();
    },
    localFile: () => node.machine.run(`cat ${LOCAL_CONFIG_FILE}`),
  };
}
