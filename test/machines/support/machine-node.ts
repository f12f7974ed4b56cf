import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { callHttps } from '../../cluster/support/https-json.ts';
import { isReady, type KubeletConfig, readConfigz } from '../../cluster/support/kubelet-probes.ts';
import { type Assignments, createAssignments } from '../../node/support/assignments.ts';
import { kubeletCredentials } from '../../node/support/node-credentials.ts';
import { KUBELET_UNIT } from '../../node/support/node-paths.ts';
import { type StatusWaits, statusWaits } from '../../node/support/status-waits.ts';
import { until } from '../../support/until.ts';
import { makeDisk } from './disk.ts';
import { bootMachine, type Machine, type MachineSize } from './machine.ts';
import { machineFiles } from './machine-files.ts';
import { API_SERVICE, KUBELET_PORT } from './machine-paths.ts';
import { type Pods, startAgentPod } from './pods.ts';

/** A machine that is a node, with the agent on it as the DaemonSet has it. */
export interface MachineNode extends StatusWaits {
  readonly name: string;
  readonly machine: Machine;
  readonly assignments: Assignments;
  readonly pods: Pods;
  readonly ready: () => Promise<boolean>;
  readonly configz: () => Promise<KubeletConfig>;
  /** How often the kubelet was started in this boot, whoever ordered it. */
  readonly starts: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const PATIENCE_MS = 15 * 60_000;
const LOOK_EVERY_MS = 500;
/** systemd's id of its message for it (sd-messages.h). */
const UNIT_STARTED = '39f53479d3a045ac8e11786248231fbf';
const POD_LOG = 'the agent’s log';

/** Files by which the kubelet gets to the API server. */
export type Credentials = (controlPlane: ControlPlane, node: string) => ReturnType<typeof kubeletCredentials>;

const KUBECONFIG: Credentials = (controlPlane, name) =>
  kubeletCredentials({ controlPlane, name }, { url: `https://${API_SERVICE}` });

export interface MachineNodeOptions {
  /** How the kubelet gets to the API server. By default it has a certificate. */
  readonly credentials?: Credentials;
  readonly size?: MachineSize;
}

/** Resolves when the Node is Ready and the agent has reported. */
export async function startMachineNode(
  controlPlane: ControlPlane,
  name: string,
  { credentials: credentialsOf = KUBECONFIG, size }: MachineNodeOptions = {},
): Promise<MachineNode> {
  const apiPort = Number(new URL(controlPlane.url).port);
  const credentials = await credentialsOf(controlPlane, name);
  const disk = await makeDisk({ ...machineFiles(name, apiPort), ...credentials });
  const machine = await bootMachine({
    ...disk,
    kernel: disk.tree.kernel,
    initrd: disk.tree.initrd,
    forward: KUBELET_PORT,
    ...(size === undefined ? {} : { size }),
  });
  const servingCertFile = join(disk.directory, 'kubelet.crt');
  const trust = async (): Promise<string> => {
    // Its own, or one that the cluster signed.
    const own = await machine.run('cat /var/lib/kubelet/pki/kubelet.crt || true');
    const text = `${own.includes('BEGIN') ? own : ''}${controlPlane.ca}`;
    await writeFile(servingCertFile, text);
    return text;
  };
  const healthy = async (): Promise<boolean> => {
    const url = `https://127.0.0.1:${machine.port}/healthz`;
    const answer = await callHttps({ url, ca: await trust(), serverName: name, as: controlPlane.admin });
    return answer.status === 200;
  };
  const journal = (unit: string, lines: number): Promise<string> =>
    machine.run(
      unit === POD_LOG
        ? `tail -qn ${lines} /var/log/pods/kubelet-gitops_*/agent/*.log`
        : `journalctl --no-pager --output=cat --lines=${lines} --unit=${unit}`,
    );
  try {
    const assignments = await createAssignments(controlPlane, name);
    const waiting = statusWaits({
      name,
      assignments,
      healthy: () => healthy().catch(() => false),
      journal,
      units: [POD_LOG, KUBELET_UNIT],
      withinMs: PATIENCE_MS,
      everyMs: LOOK_EVERY_MS,
    });
    await waiting.waits('the Node to be Ready', () => isReady(controlPlane, name));
    const pods = await startAgentPod(controlPlane, name);
    await waiting.reaches('a first report', ({ phase }) => phase === 'Idle');
    return {
      ...waiting,
      name,
      machine,
      assignments,
      pods,
      ready: () => isReady(controlPlane, name),
      configz: () =>
        until('its running config', async () => {
          await trust();
          return readConfigz(controlPlane, name, machine.port, servingCertFile);
        }),
      starts: async () =>
        Number(
          await machine.run(
            `journalctl --boot --output=cat _PID=1 UNIT=${KUBELET_UNIT} MESSAGE_ID=${UNIT_STARTED} | wc -l`,
          ),
        ),
      stop: machine.stop,
    };
  } catch (error) {
    const log = await journal(KUBELET_UNIT, 40).catch(() => machine.logTail());
    await machine.stop();
    throw new Error(`machine ${name} did not become a node; the end of its kubelet's log:\n${log}`, { cause: error });
  }
}
