import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../../scripts/build.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { manifestFlags } from '../../support/manifest-flags.ts';
import { until } from '../../support/until.ts';
import type { ApiLink } from './api-link.ts';
import type { BootedNode } from './booted-node.ts';
import { agentCredentials } from './node-credentials.ts';
import { type AgentPlaces, agentUnit, directoriesUnit, KUBEADM_PLACES } from './node-files.ts';
import { AGENT_IS_LOST, AGENT_UNIT, CREDENTIALS, DIRECTORIES_UNIT } from './node-paths.ts';

/** The agent on a node: not a pod here but a service, with the rights of the pod. */
export interface AgentService {
  /** Starts it now, and at every boot. */
  readonly enable: () => Promise<void>;
  /** Stops it now, and starts it at no boot. */
  readonly disable: () => Promise<void>;
  /** SIGKILL, if it is there, and nobody starts it again before `enable`; resolves when it is gone. */
  readonly kill: () => Promise<void>;
  /** As a rollout of the DaemonSet would. */
  readonly restart: () => Promise<void>;
  /** Changes settings, for its next start. */
  readonly set: (env: Readonly<Record<string, string>>) => Promise<void>;
  /** Every line that it logged so far, in all its runs. */
  readonly lines: () => Promise<readonly LogLine[]>;
  readonly logTail: () => Promise<string>;
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The agent's program as the image holds it, in a directory that nodes mount. */
export async function bundleAgent(): Promise<{ readonly directory: string; readonly remove: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-agent-'));
  await writeFile(join(directory, 'package.json'), '{"type":"module"}\n');
  await bundle('agent', directory);
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
}

export interface AgentOptions {
  readonly controlPlane: ControlPlane;
  readonly name: string;
  readonly agentEnv?: Readonly<Record<string, string>>;
  /** kubeadm's, unless it is another distribution. */
  readonly places?: AgentPlaces;
}

/** Its unit, its settings and its token. */
export async function agentFiles(
  { controlPlane, name, agentEnv, places = KUBEADM_PLACES }: AgentOptions,
  api: Pick<ApiLink, 'url'>,
) {
  const env = {
    NODE_NAME: name,
    HOST_ROOT: '/host',
    KUBE_SERVER: api.url,
    KUBE_CREDENTIALS_DIR: CREDENTIALS.agent,
    ...agentEnv,
  };
  return {
    ...(await agentCredentials(controlPlane, 'kubelet-gitops/kubelet-gitops-agent')),
    [`${CREDENTIALS.agent}/agent.env`]: asLines(env),
    [`/etc/systemd/system/${DIRECTORIES_UNIT}`]: directoriesUnit(places.unitDirectory),
    [`/etc/systemd/system/${AGENT_UNIT}`]: agentUnit(manifestFlags('agent'), places),
  };
}

export function agentService(
  { root, systemctl, run }: BootedNode,
  journal: (unit: string, lines?: number) => Promise<string>,
): AgentService {
  const order = async (...args: readonly string[]): Promise<void> => void (await systemctl(...args, AGENT_UNIT));
  return {
    async enable() {
      await run('rm', '-f', AGENT_IS_LOST);
      await order('enable', '--now');
    },
    disable: () => order('disable', '--now'),
    async kill() {
      await run('touch', AGENT_IS_LOST);
      await order('disable');
      await order('kill', '--signal=KILL').catch(() => undefined);
      const isGone = async (): Promise<boolean> =>
        /^(inactive|failed)$/m.test(await run('sh', '-c', `systemctl is-active ${AGENT_UNIT}; :`));
      await until('the end of the agent', isGone, { everyMs: 50 });
    },
    restart: () => order('restart'),
    // Of several lines for one variable, systemd takes the last.
    set: (env) => appendFile(join(root, CREDENTIALS.agent, 'agent.env'), asLines(env)),
    lines: async () =>
      (await journal(AGENT_UNIT, 100_000))
        .split('\n')
        .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : [])),
    logTail: () => journal(AGENT_UNIT, 25),
  };
}

const asLines = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
