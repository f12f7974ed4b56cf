import assert from 'node:assert/strict';
import { after, before, describe, type TestContext } from 'node:test';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { type ControlPlane, startControlPlane } from '../../cluster/support/control-plane.ts';
import { installManifests, NAMESPACE } from '../../cluster/support/programs.ts';
import { LOCAL_CONFIG_FILE } from '../../node/support/node-paths.ts';
import { say } from '../../node/support/say.ts';
import { type Credentials, type MachineNode, startMachineNode } from './machine-node.ts';
import { AGENT_POD, type PodState } from './pods.ts';
import { whyNoMachine } from './tree.ts';

/** A cluster of one machine, and what all stories ask of it. */
export interface World {
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
  /** The kubelet's config file. */
  readonly localFile: () => Promise<string>;
}

export interface MachineOptions {
  /** More flags for the kube-apiserver. */
  readonly apiServerArgs?: readonly string[];
  /** How the kubelet gets to the API server. By default it has a certificate. */
  readonly credentials?: Credentials;
  readonly stories: readonly ((world: () => World) => void)[];
}

export const NODE = 'machine-1';

/**
 * Runs stories on a node that boots: a kernel of its own with cgroups v2, systemd, containerd 2 and the newest kubelet as kubeadm
 * lays it out, with the agent as the pod of the DaemonSet, and a disk that keeps what it was told to keep.
 */
export async function describeMachine(title: string, options: MachineOptions): Promise<void> {
  const { apiServerArgs = [], credentials, stories } = options;
  describe(title, { skip: await whyNoMachine(), concurrency: 1 }, () => {
    let cluster: ControlPlane;
    let world: World | undefined;
    before(async () => {
      cluster = await startControlPlane({ apiServerArgs });
      await installManifests(cluster);
      world = await createWorld(cluster, await startMachineNode(cluster, NODE, credentials));
    });
    after(async () => {
      await world?.node.stop();
      await cluster?.stop();
    });
    for (const tell of stories) tell(() => world ?? assert.fail('there is no machine'));
  });
}

/** Resolves when the agent's pod is Ready. */
export async function createWorld(cluster: ControlPlane, node: MachineNode): Promise<World> {
  const agentNow = (): Promise<PodState | undefined> => node.pods.state(NAMESPACE, AGENT_POD);
  const readyAgent = (): Promise<PodState> =>
    node.waits('the agent’s pod to be Ready', async () => {
      const now = await agentNow();
      return now?.ready === true && now;
    });
  let agent = await readyAgent();
  const comesBack: World['comesBack'] = async (t, what, boots) => {
    const [then, from, started] = [agent, Date.now(), performance.now()];
    await boots();
    say(t, `${what} → booted`, started);
    agent = await node.waits('the agent’s pod to run again', async () => {
      const now = await agentNow();
      return now?.ready === true && now.restarts > then.restarts && now;
    });
    assert.equal(agent.uid, then.uid);
    const since = from + 5000;
    const status = await node.reaches(
      'a report from after the boot',
      ({ heartbeat }) => Date.parse(heartbeat ?? '') > since,
    );
    say(t, `${what} → the agent has reported`, started);
    return status;
  };
  return {
    cluster,
    node,
    comesBack,
    agentRanOn: async () => assert.deepEqual(await agentNow(), agent),
    cutPower: async (t) => void (await comesBack(t, 'power cut', node.machine.cutPower)),
    localFile: () => node.machine.run(`cat ${LOCAL_CONFIG_FILE}`),
  };
}
