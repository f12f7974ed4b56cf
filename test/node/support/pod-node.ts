import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { locateNode } from '../../cluster/support/binaries.ts';
import { freePorts } from '../../cluster/support/free-ports.ts';
import { type AgentPod, buildImage, startAgentPod } from './agent-pod.ts';
import { type BootedNode, bootNode } from './booted-node.ts';
import { agentTemplate, type PodTemplate } from './container-spec.ts';
import { FAKE_KUBELET, FAKE_KUBELET_UNIT, localConfig } from './fake-kubelet.ts';
import { KUBELET_UNIT, LOCAL_CONFIG_FILE, STATE_DIRECTORY, UNIT_DIRECTORY } from './node-paths.ts';
import type { SandboxCluster } from './sandbox-cluster.ts';

/** A node with a real systemd and a kubelet that only seems to be one, where the agent runs in a container. */
export interface PodNode {
  readonly machine: BootedNode;
  readonly localConfig: string;
  /** As the DaemonSet has it, unless another template is given. */
  readonly startPod: (env?: Readonly<Record<string, string>>, template?: PodTemplate) => Promise<AgentPod>;
  /** Names the kubelet's present run; another one after every start. */
  readonly run: () => Promise<string>;
  readonly configFile: () => Promise<string>;
  /** What of ours is on the node: paths, sorted; the state directory itself and systemd's drop-in directory do not count. */
  readonly traces: () => Promise<readonly string[]>;
  /** As it was provisioned, with its kubelet running. */
  readonly clean: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const INSIDE = { images: '/opt/images', programs: '/opt/programs', account: '/opt/service-account' } as const;
const RUNC = `${INSIDE.programs}/runc`;
/** A guard that ticks meanwhile may leave something in a directory that was empty. */
const GONE = { recursive: true, force: true, maxRetries: 10 } as const;
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

export async function startPodNode(cluster: SandboxCluster, nodeName: string): Promise<PodNode> {
  const located = await locateNode();
  if (!located.found) throw new Error(`no runc: ${located.reason}`);
  const [healthzPort = 0] = await freePorts(1);
  const local = localConfig(healthzPort);
  const image = await buildImage();
  const machine = await bootNode({
    network: 'host',
    args: [
      '--capability=all',
      // Its directory: runc runs itself from an overlay over that one, which has nothing of what is mounted on a file in it.
      `--bind-ro=${dirname(located.binaries.runc)}:${INSIDE.programs}`,
      `--bind=${image.directory}:${INSIDE.images}`,
    ],
    files: {
      '/usr/local/bin/kubelet': { text: FAKE_KUBELET, mode: 0o755 },
      [`/etc/systemd/system/${KUBELET_UNIT}`]: FAKE_KUBELET_UNIT,
      // No unit for a kubelet.
      '/etc/systemd/system/wrapper.service': '[Service]\nType=oneshot\nExecStart=/bin/true\n',
      [LOCAL_CONFIG_FILE]: local,
      [`${INSIDE.account}/token`]: cluster.token,
      // Over plain HTTP nobody looks into it.
      [`${INSIDE.account}/ca.crt`]: 'no certificate',
    },
    enable: [KUBELET_UNIT],
  });
  const pods: AgentPod[] = [];
  const at = (path: string): string => join(machine.root, path);
  const namesIn = (path: string): Promise<readonly string[]> => readdir(at(path)).catch(() => []);
  return {
    machine,
    localConfig: local,
    async startPod(env = {}, template = agentTemplate()) {
      const api = { NODE_NAME: nodeName, KUBE_SERVER: cluster.url, KUBE_CREDENTIALS_DIR: ACCOUNT };
      const serviceAccount = { from: INSIDE.account, to: ACCOUNT };
      const imageRoot = join(INSIDE.images, await image.unpack());
      const options = { imageRoot, runc: RUNC, env: { ...api, ...env }, serviceAccount };
      const pod = await startAgentPod(machine, template, options);
      pods.push(pod);
      return pod;
    },
    run: async () => (await machine.systemctl('show', '--property=InvocationID', '--value', KUBELET_UNIT)).trim(),
    configFile: () => readFile(at(LOCAL_CONFIG_FILE), 'utf8'),
    async traces() {
      const kubelet = (await namesIn('/var/lib/kubelet')).filter((name) => name !== 'config.yaml' && name !== 'pods');
      const units = (await machine.systemctl('list-units', '--all', '--plain', '--no-legend', 'kubelet-gitops*'))
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [line.split(' ')[0] ?? '']));
      const inDirectories = [
        ...kubelet.map((name) => `/var/lib/kubelet/${name}`),
        ...(await namesIn(STATE_DIRECTORY)).map((name) => `${STATE_DIRECTORY}/${name}`),
        ...(await namesIn(UNIT_DIRECTORY)).map((name) => `${UNIT_DIRECTORY}/${name}`),
      ];
      return [...inDirectories, ...units].sort();
    },
    async clean() {
      await Promise.all(pods.splice(0).map((pod) => pod.stop()));
      for (const directory of [STATE_DIRECTORY, UNIT_DIRECTORY]) await rm(at(directory), GONE);
      await rm(at('/var/lib/kubelet'), GONE);
      await mkdir(at('/var/lib/kubelet'));
      await writeFile(at(LOCAL_CONFIG_FILE), local);
      await machine.systemctl('daemon-reload');
      await machine.systemctl('restart', KUBELET_UNIT);
    },
    async stop() {
      await Promise.all(pods.map((pod) => pod.stop()));
      await machine.stop();
      await image.remove();
    },
  };
}
