import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { addressOf } from '#agent/kubelet/kubelet-address.ts';
import { createReadCommandLine } from '#agent/kubelet/command-line.ts';
import { createHostFiles } from '#agent/host/host-files.ts';
import { pressureSince } from '#agent/decide/node-pressure.ts';
import type { NodePressure } from '#agent/decide/state.ts';
import { createOwnNode } from '#agent/observe/own-node.ts';
import { createHostFactsReader } from '#agent/preflight/gather-host-facts.ts';
import { createPreflight } from '#agent/preflight/preflight.ts';
import { createHostProbe } from '#agent/kubelet/host-probe.ts';
import type { Installable } from '#agent/ports/installer.ts';
import type { KubeletCounters, KubeletProbe, PodEvictions, RunningConfig } from '#agent/ports/kubelet-probe.ts';
import { createCommandService } from '#agent/kubelet/service-command.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { nodeSkipReason } from '../cluster/support/binaries.ts';
import { type ContainerRuntime, startContainerd } from '../cluster/support/container-runtime.ts';
import { type ControlPlane, startControlPlane } from '../cluster/support/control-plane.ts';
import { type Kubelet, startKubelet } from '../cluster/support/kubelet.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { until } from '../support/until.ts';
import { installerOn } from '../support/agent/installer-on.ts';

const skip = await nodeSkipReason();
const never = new AbortController().signal;

const SPARE_PROCESS_IDS = 300;

/** @returns how many more processes and threads the kubelet believes the machine can have */
async function freeProcessIds(): Promise<number> {
  const [limit = '', load = ''] = await Promise.all(
    ['/proc/sys/kernel/pid_max', '/proc/loadavg'].map((file) => readFile(file, 'utf8')),
  );
  return Number(limit) - Number(/\/(\d+)/.exec(load)?.[1]);
}

const GIB = 2 ** 30;

/** Memory that is not free and that the machine has: nobody has to use any for it. */
async function justAboveFree(): Promise<string> {
  const text = await readFile('/proc/meminfo', 'utf8');
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) * 1024;
  const free = Math.max(bytes('MemAvailable'), bytes('MemFree') + bytes('Inactive\\(file\\)'));
  return String(Math.round(Math.min(free + 2 * GIB, (free + 3 * bytes('MemTotal')) / 4)));
}

const RIGHTS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: configz-reader }
rules: [{ apiGroups: [""], resources: [nodes/proxy], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: configz-reader }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: configz-reader }
subjects: [{ kind: ServiceAccount, namespace: default, name: reader }]
---
apiVersion: v1
kind: ServiceAccount
metadata: { namespace: default, name: reader }
---
apiVersion: v1
kind: ServiceAccount
metadata: { namespace: default, name: nobody }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: metrics-reader }
rules: [{ apiGroups: [""], resources: [nodes/metrics], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: metrics-reader }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: metrics-reader }
subjects: [{ kind: ServiceAccount, namespace: default, name: counter }]
---
apiVersion: v1
kind: ServiceAccount
metadata: { namespace: default, name: counter }
`;

const POD = `
apiVersion: v1
kind: Pod
metadata: { namespace: default, name: evicted }
spec:
  nodeName: node-p
  serviceAccountName: nobody
  automountServiceAccountToken: false
  containers: [{ name: any, image: registry.invalid/none, imagePullPolicy: Never }]
`;

describeOrSkip('the ports to a real kubelet', { skip }, () => {
  let cluster: ControlPlane;
  let runtime: ContainerRuntime;
  let kubelet: Kubelet;
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-ports-'));
    cluster = await startControlPlane();
    runtime = await startContainerd();
    kubelet = await startKubelet({ controlPlane: cluster, runtime, nodeName: 'node-p', config: { maxPods: 42 } });
    await until('the rights’ objects', () => apply(RIGHTS));
    // A kubelet remembers for half a minute that somebody may not.
    const may = ['auth', 'can-i', 'get', 'nodes', '--subresource=proxy', '--as=system:serviceaccount:default:reader'];
    const count = may.map((word) => word.replace('proxy', 'metrics').replace('reader', 'counter'));
    await until('the right to its metrics', async () => (await cluster.kubectl(count)).code === 0);
    await until('the rights', async () => (await cluster.kubectl(may)).code === 0);
  });
  after(async () => {
    await kubelet?.stop();
    await runtime?.stop();
    await cluster?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const apply = async (input: string): Promise<boolean> =>
    (await cluster.kubectl(['apply', '-f', '-'], { input })).code === 0;
  const look = async (account: string, certificate = kubelet.servingCertFile): Promise<RunningConfig> => {
    const token = await cluster.serviceAccountToken('default', account);
    const probe = createHostProbe({ token: async () => token, servingCertFiles: [certificate], timeoutMs: 60_000 });
    return probe.runningConfig(addressOf(kubelet.config), never);
  };
  /** A kubelet that was just started listens on its secure port a moment after it is healthy. */
  const lookAtLast = (): Promise<RunningConfig & { readonly seen: true }> =>
    until('its running config', async () => {
      const running = await look('reader');
      if (!running.seen) throw new Error(running.reason);
      return running;
    });
  const why = (running: RunningConfig): string => (running.seen ? 'seen' : running.why);

  it('read /configz with a service account’s token from the kubelet that shows its certificate', async () => {
    const running = await lookAtLast();
    assert.equal(running.config['maxPods'], 42);
    assert.equal(why(await look('nobody')), 'forbidden');
    assert.equal(why(await look('reader', cluster.caFile)), 'untrusted');
  });

  const probeOf = async (account: string): Promise<KubeletProbe> => {
    const token = await cluster.serviceAccountToken('default', account);
    const servingCertFiles = [kubelet.servingCertFile];
    return createHostProbe({ token: async () => token, servingCertFiles, timeoutMs: 60_000 });
  };
  const harmSeenBy = async (account: string): Promise<PodEvictions | null | undefined> =>
    (await probeOf(account)).podHarm(addressOf(kubelet.config), never);
  const countersSeenBy = async (account: string): Promise<KubeletCounters | null | undefined> =>
    (await probeOf(account)).counters(addressOf(kubelet.config), never);
  const seenEvicted = async (): Promise<PodEvictions | false> => {
    const harm = await harmSeenBy('counter');
    return harm !== undefined && harm !== null && Object.keys(harm).length > 0 && harm;
  };

  /** Installs a config over the kubelet's own, or takes it back, and restarts the kubelet. @returns what it runs then */
  const createChange = () => {
    const service = createCommandService({ restartCommand: kubelet.restartCommand, pidFile: kubelet.pidFile });
    const probe = createHostProbe({ token: async () => '', servingCertFiles: [] });
    const installer = installerOn(createNodeDisk(), {
      stateDirectory: join(directory, 'state'),
      configFile: kubelet.configFile,
      kubeletMinor: async () => '1.20',
    });
    return async (config: Installable | null): Promise<Readonly<Record<string, unknown>>> => {
      const plan = await installer.plan(config);
      await installer.install(plan);
      const { run } = await service.status(never);
      await service.restart('test', never);
      const isUp = async (): Promise<boolean> => {
        const now = await service.status(never);
        const { health } = await probe.health(addressOf(plan.effective), never);
        return now.state === 'running' && now.run !== run && health === 'ok';
      };
      await until('the kubelet to be healthy again', isUp, { withinMs: 5 * 60_000, evidence: kubelet.logTail });
      const running = await lookAtLast();
      return running.config;
    };
  };

  it('install an overlay that keeps the local config’s defaults, restart, count what it evicts, and give the local config back', async () => {
    const change = createChange();
    const local = await readFile(kubelet.configFile);
    const fields = { maxPods: 50, evictionHard: { 'memory.available': '123Mi' } };
    const changed = await change({ payload: canonicalize(fields), apply: 'overlay' });
    assert.equal(changed['maxPods'], 50);
    assert.deepEqual(changed['evictionHard'], {
      'imagefs.available': '15%',
      'memory.available': '123Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
    });
    const none = await change(null);
    assert.equal(none['maxPods'], 42);
    assert.deepEqual(await harmSeenBy('reader'), null, 'the right to /configz alone is not enough');
    assert.deepEqual(await harmSeenBy('counter'), {});
    const threshold = (await freeProcessIds()) - SPARE_PROCESS_IDS;
    // However little is free on the disk of whoever runs this.
    const evictionHard = { 'pid.available': `${threshold}`, 'nodefs.available': '1Mi', 'imagefs.available': '1Mi' };
    await change({ payload: canonicalize({ evictionHard }), apply: 'overlay' });
    // A pod is refused until the API server itself has heard of its account.
    await until('the pod', () => apply(POD));
    // Under pressure a kubelet refuses pods: what is to be evicted must have been taken in before.
    await until('the pod to be taken in', async () => {
      const { stdout } = await cluster.kubectl(['get', 'pod', 'evicted', '-o', 'jsonpath={.status.startTime}']);
      return stdout !== '';
    });
    const sleepers = spawn(
      'sh',
      ['-c', `i=${2 * SPARE_PROCESS_IDS}; while [ $((i -= 1)) -gt 0 ]; do sleep 600 & done; wait`],
      {
        detached: true,
      },
    );
    const evicted = await until('the pod to be evicted', seenEvicted, { evidence: kubelet.logTail }).finally(
      () => sleepers.pid !== undefined && process.kill(-sleepers.pid),
    );
    assert.deepEqual(evicted, { 'evicted pid.available': 1 });
    const counted = (await countersSeenBy('counter')) ?? {};
    assert.equal(counted['kubelet_evictions'], 1);
    for (const name of ['process_cpu_seconds_total', 'kubelet_pleg_relist_duration_seconds_count']) {
      assert.ok((counted[name] ?? 0) > 0, `${name} of ${JSON.stringify(counted)}`);
    }
    assert.equal(await countersSeenBy('reader'), null);
    const again = await change(null);
    assert.deepEqual(await harmSeenBy('counter'), {}, 'another run begins to count again');
    assert.equal(again['maxPods'], 42);
    assert.deepEqual(await readFile(kubelet.configFile), local);
  });

  it('bring memory pressure by a threshold just above what is free: preflight refuses it, and in a trial it is harm', async () => {
    const { ca, admin, url: server } = cluster;
    const ownNode = createOwnNode({
      kube: createKube({
        server,
        credentials: staticCredentials({ ca, cert: admin.certificate, key: admin.key }),
        clock: systemClock,
        log: silentLog,
        userAgent: 'ports',
      }),
      nodeName: 'node-p',
      clock: systemClock,
      disk: createNodeDisk(),
      versionFile: join(directory, 'version'),
    });
    const strain = async (): Promise<NodePressure> => {
      const { pressures } = await ownNode.look(0, never);
      return { pressures, outOfMemory: null, pods: null, bootId: 'this' };
    };
    const isUnderPressure = async (): Promise<boolean> =>
      (await strain()).pressures?.includes('MemoryPressure') ?? false;
    await until('no pressure before', async () => !(await isUnderPressure()));
    const before = await strain();

    const files = createHostFiles('/');
    const readCommandLine = createReadCommandLine({ files, unit: 'kubelet.service' });
    const host = createHostFactsReader({
      files,
      commandLine: async () => readCommandLine({ run: 'this', pid: Number(await readFile(kubelet.pidFile, 'utf8')) }),
    });
    const preflight = createPreflight({ configFile: kubelet.configFile, configDirectory: undefined, host });
    const version = (await ownNode.kubeletVersion()) ?? '';
    const judged = async (memory: string): Promise<readonly string[]> => {
      const fields = { evictionHard: { 'memory.available': memory } };
      const found = await preflight(fields, version, { payload: fields, apply: 'overlay' });
      return found.filter(({ code }) => code === 'pressure-at-once').map(({ severity }) => severity);
    };
    assert.deepEqual(await judged('100Mi'), []);
    const threshold = await justAboveFree();
    assert.deepEqual(await judged(threshold), ['error']);

    const change = createChange();
    await change({ payload: canonicalize({ evictionHard: { 'memory.available': threshold } }), apply: 'overlay' });
    await until('the pressure', isUnderPressure, { evidence: kubelet.logTail });
    const said = 'its Node is under MemoryPressure, and was not before';
    assert.ok(pressureSince(before, await strain()).includes(said));
    assert.deepEqual(await judged(threshold), ['warning'], 'no config is refused for what the present one brings');
    await change(null);
    await until('no pressure afterwards', async () => !(await isUnderPressure()), { evidence: kubelet.logTail });
  });
});
