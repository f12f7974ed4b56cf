import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '#shared/runtime/version.ts';
import { bundle } from '../../../scripts/build.ts';
import { manifestFlags } from '../../support/manifest-flags.ts';
import type { ControlPlane } from './control-plane.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { until } from '../../support/until.ts';

/** The two programs as the image holds them, to be run as their pods would run them. */
export interface Programs {
  /**
   * Starts one under its own service account: token and authority lie where the kubelet mounts them, and the API server's
   * address comes from the environment, so that nothing but the manifests' rights is at its disposal.
   */
  readonly start: (
    program: 'agent' | 'reconciler',
    env: Readonly<Record<string, string>>,
    place?: ProgramPlace,
  ) => Promise<Program>;
  readonly remove: () => Promise<void>;
}

/** Where a program runs, if not with this process's Node in its cgroup. */
export interface ProgramPlace {
  readonly node: string;
  /** The cgroup's file of processes. */
  readonly cgroupProcs: string;
}

export interface Program extends Daemon {
  /** Every line that it logged so far. */
  readonly lines: () => Promise<readonly LogLine[]>;
  /** Resolves with the first line that has this message. */
  readonly said: (message: string) => Promise<LogLine>;
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export const NAMESPACE = 'kubelet-gitops';
const MOUNT_POINT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** @param version another one than this source has, as the next release would */
export async function buildPrograms(cluster: ControlPlane, version = VERSION): Promise<Programs> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-programs-'));
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  for (const program of ['agent', 'reconciler'] as const) await bundle(program, directory);
  if (version !== VERSION) await renumber(directory, version);
  let count = 0;

  return {
    async start(program, env, { node, cgroupProcs } = { node: process.execPath, cgroupProcs: '/dev/null' }) {
      count += 1;
      const account = join(directory, `account-of-${program}`);
      // A pod that is started again while the API server is away still has the token it had.
      if (!existsSync(account)) {
        const token = await cluster.serviceAccountToken(NAMESPACE, `kubelet-gitops-${program}`);
        await mkdir(account);
        await writeFile(join(account, 'token'), token);
        await writeFile(join(account, 'ca.crt'), cluster.ca);
      }
      await mkdir(MOUNT_POINT, { recursive: true });
      const { hostname, port } = new URL(cluster.url);
      const logFile = join(directory, `${program}-${count}.log`);
      const daemon = startDaemon({
        name: program,
        command: 'unshare',
        args: [
          '--mount',
          'sh',
          '-c',
          `mount --bind "$1" ${MOUNT_POINT} && echo $$ > "$2" && shift 2 && exec "$@"`,
          'sh',
          account,
          cgroupProcs,
          node,
          ...manifestFlags(program),
          join(directory, `${program}.js`),
        ],
        env: { NAMESPACE, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, ...env },
        logFile,
      });
      const lines = async (): Promise<readonly LogLine[]> =>
        // The last one may be in the middle of being written.
        (await readFile(logFile, 'utf8'))
          .split('\n')
          .slice(0, -1)
          .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []));
      return {
        ...daemon,
        lines,
        said: (message) =>
          until(`${program} saying "${message}"`, async () => (await lines()).find(({ msg }) => msg === message), {
            hopeless: daemon.ended,
            evidence: daemon.logTail,
          }),
      };
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Makes the bundles there those of another version, as far as they can tell. */
export async function renumber(directory: string, to: string, from = VERSION): Promise<void> {
  for (const file of await readdir(directory)) {
    if (!file.endsWith('.js')) continue;
    const path = join(directory, file);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replaceAll(`"${from}"`, `"${to}"`).replaceAll(`\`${from}\``, `"${to}"`));
  }
}

/** Applies the manifests, but for the two workloads: nothing here runs pods. */
export async function installManifests(cluster: ControlPlane): Promise<void> {
  const files = [
    'namespace/namespace.yaml',
    'crds/kubeletnodes.yaml',
    'crds/kubeletpools.yaml',
    'crds/kubeletsources.yaml',
    'rbac/reconciler.yaml',
    'rbac/agent.yaml',
    'components/configz-before-1.33/rbac.yaml',
    'components/events-before-1.23/rbac.yaml',
  ];
  const { code, stderr } = await cluster.kubectl(['apply', ...files.flatMap((file) => ['-f', `deploy/${file}`])]);
  if (code !== 0) throw new Error(`the manifests were not accepted: ${stderr}`);
  const crds = ['crd/kubeletnodes.kubelet-gitops.dev', 'crd/kubeletpools.kubelet-gitops.dev'];
  const { code: established } = await cluster.kubectl([
    'wait',
    '--for=condition=Established',
    '--timeout=120s',
    ...crds,
  ]);
  if (established !== 0) throw new Error('the CRDs were not established within two minutes');
  // They are served a moment later.
  for (const kind of ['kubeletnodes', 'kubeletpools']) {
    const path = `/apis/kubelet-gitops.dev/v1alpha1/${kind}`;
    await until(kind, async () => (await cluster.request('GET', path)).status === 200, { everyMs: 50 });
  }
}
