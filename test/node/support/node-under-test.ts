import { codeOf } from '#shared/runtime/errors.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { type Assignments, createAssignments } from './assignments.ts';
import { type KubernetesNode, type KubernetesNodeOptions, startKubernetesNode } from './kubernetes-node.ts';
import { AGENT_UNIT, HOLD, KUBELET_UNIT, STATE_DIRECTORY, UNIT_DIRECTORY } from './node-paths.ts';
import { type StatusWaits, statusWaits } from './status-waits.ts';

/** What the nodes of one run have in common. */
export interface World {
  readonly cluster: () => ControlPlane;
  readonly agentDirectory: () => string;
}

/** A node with its assignment, and with waits that tell on failure what node and agent were doing. */
export interface NodeUnderTest extends KubernetesNode, StatusWaits {
  readonly assignments: Assignments;
  /**
   * Until `letStart` or a boot, every start of the kubelet runs these commands on the node and then waits: what would pass in a
   * moment stays for as long as a test looks at it.
   */
  readonly holdStarts: (commands?: string) => Promise<void>;
  /** Waits for a start that waits. */
  readonly isHeld: () => Promise<unknown>;
  readonly letStart: () => Promise<void>;
  /** Whether systemd has the guard's line in the kubelet's unit, for a trial. */
  readonly isGuarded: () => Promise<boolean>;
  /** Waits until it has not: the agent says that a trial is over, and then takes the guard away. */
  readonly isUnguarded: () => Promise<unknown>;
}

/** Ends what hangs, and measures nothing: machines stand still for a while, and kubelets take their time. */
const PATIENCE_MS = 5 * 60_000;

export async function startNodeUnderTest(
  world: World,
  options: Omit<KubernetesNodeOptions, 'controlPlane' | 'agentDirectory'>,
): Promise<NodeUnderTest> {
  const controlPlane = world.cluster();
  const assignments = await createAssignments(controlPlane, options.name);
  const node = await startKubernetesNode({ ...options, controlPlane, agentDirectory: world.agentDirectory() });

  const waiting = statusWaits({
    ...node,
    assignments,
    units: [AGENT_UNIT, KUBELET_UNIT],
    withinMs: PATIENCE_MS,
    everyMs: 100,
  });
  const { waits } = waiting;
  /** A kubelet that was just started listens on its secure port a moment after it is healthy. */
  const unlessDeaf = (error: unknown): undefined => {
    if (codeOf(error) !== 'ECONNREFUSED') throw error;
  };
  // What was promoted is guarded over the next boot.
  const isGuarded = async (): Promise<boolean> =>
    (await node.read(`${UNIT_DIRECTORY}/90-kubelet-gitops-guard.conf`)) !== undefined &&
    !/^watch /m.test((await node.read(`${STATE_DIRECTORY}/guard/plan`)) ?? '');
  return {
    ...node,
    configz: () => waits('its running config', () => node.configz().catch(unlessDeaf)),
    assignments,
    ...waiting,
    holdStarts: async (commands = ':') =>
      void (await node.machine.run('sh', '-c', 'printf "%s\\n" "$2" >"$1"', 'sh', HOLD.order, commands)),
    // A command that fails says that it is not there yet.
    isHeld: () => waits('a start of the kubelet', () => node.machine.run('test', '-e', HOLD.isHeld).then(() => true)),
    letStart: async () => void (await node.machine.run('rm', HOLD.order)),
    isGuarded,
    isUnguarded: () => waits('the guard to be gone', async () => !(await isGuarded())),
  };
}
