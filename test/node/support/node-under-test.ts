import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { until } from '../../cluster/support/until.ts';
import { type Assignments, createAssignments } from './assignments.ts';
import { type KubernetesNode, type KubernetesNodeOptions, startKubernetesNode } from './kubernetes-node.ts';
import { AGENT_UNIT, KUBELET_UNIT, LOCAL_CONFIG_FILE, UNIT_DIRECTORY } from './node-paths.ts';

/** What the nodes of one run have in common. */
export interface World {
  readonly cluster: () => ControlPlane;
  readonly agentDirectory: () => string;
}

/** A node with its assignment, and with waits that tell on failure what node and agent were doing. */
export interface NodeUnderTest extends KubernetesNode {
  readonly assignments: Assignments;
  /** Waits for a status; bounded by a minute where nothing else is said. */
  readonly reaches: (
    what: string,
    holds: (status: KubeletNodeStatus) => boolean,
    withinMs?: number,
  ) => Promise<KubeletNodeStatus>;
  /** Waits for anything else. */
  readonly waits: <T>(what: string, look: () => Promise<T | undefined | false>, withinMs?: number) => Promise<T>;
  /** The config proved itself, and the kubelet is healthy with it. */
  readonly settlesOn: (name: string) => Promise<KubeletNodeStatus>;
  /** The config failed, and the kubelet is healthy with the one before. */
  readonly rejects: (name: string, withinMs?: number) => Promise<KubeletNodeStatus>;
  /**
   * Stops the kubelet's process as soon as it has started with a config file that holds this text: it is there, and it
   * does nothing.
   */
  readonly hangsWith: (text: string) => Promise<void>;
  /** Whether systemd has the guard's line in the kubelet's unit. */
  readonly isGuarded: () => Promise<boolean>;
}

const MINUTE = 60_000;

export async function startNodeUnderTest(
  world: World,
  options: Omit<KubernetesNodeOptions, 'controlPlane' | 'agentDirectory'>,
): Promise<NodeUnderTest> {
  const controlPlane = world.cluster();
  const assignments = await createAssignments(controlPlane, options.name);
  const node = await startKubernetesNode({ ...options, controlPlane, agentDirectory: world.agentDirectory() });

  const evidence = async (): Promise<string> => {
    const status = await assignments.status().catch(reasonOf);
    const logs = [AGENT_UNIT, KUBELET_UNIT].map((unit) => node.journal(unit, 30).catch(reasonOf));
    const [agent, kubelet] = await Promise.all(logs);
    return `--- status\n${JSON.stringify(status, undefined, 1)}\n--- agent\n${agent}\n--- kubelet\n${kubelet}`;
  };
  const waits: NodeUnderTest['waits'] = (what, look, withinMs = MINUTE) =>
    until(`${what} (${node.name})`, look, { withinMs, everyMs: 100 }).catch(async (error: unknown) => {
      throw new Error(`${reasonOf(error)}\n${await evidence()}`, { cause: error });
    });
  const reaches: NodeUnderTest['reaches'] = (what, holds, withinMs) => {
    const look = async (): Promise<KubeletNodeStatus | false> => {
      const status = await assignments.status();
      return holds(status) && status;
    };
    return waits(what, look, withinMs);
  };
  const isUp = (): Promise<true> => waits('a healthy kubelet', async () => (await node.healthy()) && true, 5_000);
  /** A kubelet that was just started listens on its secure port a moment after it is healthy. */
  const unlessDeaf = (error: unknown): undefined => {
    if (codeOf(error) !== 'ECONNREFUSED') throw error;
  };
  return {
    ...node,
    configz: () => waits('its running config', () => node.configz().catch(unlessDeaf), 10_000),
    assignments,
    waits,
    reaches,
    async settlesOn(name) {
      const isSettled = ({ phase, active, lastKnownGood, error }: KubeletNodeStatus): boolean =>
        phase === 'Idle' && active?.name === name && lastKnownGood?.name === name && (error ?? undefined) === undefined;
      const status = await reaches(`${name} to be promoted`, isSettled);
      await isUp();
      return status;
    },
    async rejects(name, withinMs = 1.5 * MINUTE) {
      const isRejected = ({ phase, active, rejected }: KubeletNodeStatus): boolean =>
        phase === 'Idle' && active?.name !== name && rejected?.some((entry) => entry.name === name) === true;
      const status = await reaches(`${name} to be rejected`, isRejected, withinMs);
      await isUp();
      return status;
    },
    async hangsWith(text) {
      const before = await node.runs();
      await waits('another run', async () => {
        const { invocation } = await node.runs();
        const file = await node.read(LOCAL_CONFIG_FILE);
        return file?.includes(text) === true && invocation !== '' && invocation !== before.invocation;
      });
      // A run begins with what comes before its main process.
      await waits('its process', async () => {
        await node.machine.systemctl('kill', '--signal=STOP', '--kill-who=main', KUBELET_UNIT);
        return true;
      });
    },
    isGuarded: async () => (await node.read(`${UNIT_DIRECTORY}/90-kubelet-gitops-guard.conf`)) !== undefined,
  };
}
