import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, it } from 'node:test';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { nodeSkipReason as whyNoRunc } from '../cluster/support/binaries.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { until } from '../support/until.ts';
import type { AgentPod } from './support/agent-pod.ts';
import { LONG_TRIAL } from './support/assignments.ts';
import { agentTemplate, type PodTemplate } from './support/container-spec.ts';
import { LOCAL_CONFIG_FILE, STATE_DIRECTORY, UNIT_DIRECTORY } from './support/node-paths.ts';
import { type PodNode, startPodNode } from './support/pod-node.ts';
import { type SandboxCluster, startSandboxCluster } from './support/sandbox-cluster.ts';
import { nodeSkipReason } from './support/tree.ts';

const skip = (await nodeSkipReason()) || (await whyNoRunc());
const DROP_IN = `${UNIT_DIRECTORY}/90-kubelet-gitops-guard.conf`;

/** As a kubelet mounts one for a pod. */
const VOLUME = '/var/lib/kubelet/pods/volume';

describeOrSkip('the agent with exactly what the DaemonSet gives it', { skip }, () => {
  let cluster: SandboxCluster;
  let node: PodNode;
  let pod: AgentPod;

  const reaches = (what: string, holds: (status: KubeletNodeStatus) => boolean) =>
    until(
      what,
      async () => {
        const status = cluster.status();
        return holds(status) ? status : undefined;
      },
      { everyMs: 50, evidence: () => `${JSON.stringify(cluster.status())}\n${pod.log().slice(-3000)}` },
    );
  const idleOn = (name: string) =>
    reaches(
      `rest on ${name}`,
      (now) => now.phase === 'Idle' && now.active?.name === name && now.lastKnownGood?.name === name,
    );
  const mountVolume = async (): Promise<void> => {
    await node.machine.run('mkdir', '-p', VOLUME);
    await node.machine.run('mount', '-t', 'tmpfs', 'volume', VOLUME);
  };
  const dropIns = (): Promise<string> =>
    node.machine.systemctl('show', '--property=DropInPaths', '--value', 'kubelet.service');

  before(async () => {
    cluster = await startSandboxCluster('node-a');
    node = await startPodNode(cluster, 'node-a');
  });
  after(async () => {
    await node?.stop();
    await cluster?.stop();
  });
  afterEach(async () => {
    await node.clean();
    cluster.forgetStatus();
  });

  it('is root without a capability, can get none, and has nothing of the host but what is listed', async () => {
    await mountVolume();
    pod = await node.startPod();
    const pid = await pod.pid();
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    assert.match(status, /^Uid:\t0\t0\t0\t0$/m);
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) assert.match(status, new RegExp(`^Cap${set}:\t0+$`, 'm'));
    assert.match(status, /^NoNewPrivs:\t1$/m);
    assert.match(status, /^Seccomp:\t2$/m);
    const mounts = await mountsOf(pid);
    assert.equal(mounts.get('/'), 'ro');
    assert.equal(mounts.get('/host'), 'ro');
    assert.equal(mounts.get('/run/dbus'), 'ro');
    const writable = [...mounts].filter(([path, mode]) => mode === 'rw' && !isSystem(path)).map(([path]) => path);
    assert.deepEqual(writable.sort(), [
      '/etc/systemd/system/kubelet.service.d',
      '/var/lib/kubelet',
      '/var/lib/kubelet-gitops',
      VOLUME,
    ]);
    await node.machine.run('umount', VOLUME);
    assert.equal((await mountsOf(pid)).has(VOLUME), false, 'what the host lets go of is not held by the agent');
  });

  it('would hold the volumes of other pods, if its mounts did not follow the host', async () => {
    await mountVolume();
    const template = agentTemplate();
    const [container] = template.containers;
    const volumeMounts = container.volumeMounts.map((mount) => ({ ...mount, mountPropagation: 'None' as const }));
    pod = await node.startPod({}, { ...template, containers: [{ ...container, volumeMounts }] });
    const pid = await pod.pid();
    await node.machine.run('umount', VOLUME);
    assert.equal((await mountsOf(pid)).has(VOLUME), true);
  });

  it('takes a config through its trial, guarded, with one restart, and puts back what drifts', async () => {
    pod = await node.startPod();
    await idleOn('local');
    const run = await node.run();
    const fields = { maxPods: 77 };
    const name = cluster.assign(fields, { trial: LONG_TRIAL });
    await reaches('the trial', (now) => now.phase === 'Trial');
    await until('the guard, read by systemd', async () => (await dropIns()).includes(DROP_IN));
    await until('a restart', async () => (await node.run()) !== run);
    const newRun = await node.run();
    await until('the guard to count the start', async () =>
      /^\S+ +1\b/.test(await readFile(join(node.machine.root, '/var/lib/kubelet-gitops/guard/starts'), 'utf8')),
    );
    cluster.assign(fields);
    await idleOn(name);
    assert.match(await node.configFile(), /"maxPods": 77/);
    assert.equal(await node.run(), newRun);
    const plan = join(node.machine.root, '/var/lib/kubelet-gitops/guard/plan');
    await until('its next boot to be watched', async () =>
      /^watch /m.test(await readFile(plan, 'utf8').catch(() => '')),
    );
    assert.ok((await dropIns()).includes(DROP_IN));
    // The machine plays a boot of its own, whose id the pod cannot see: that the timer ends in the boot of a promotion is told by
    // test/agent/guard/guard.boots.test.ts.

    await rm(join(node.machine.root, LOCAL_CONFIG_FILE));
    await until('the file to be back', async () => /"maxPods": 77/.test(await node.configFile()), {
      everyMs: 50,
    });
    assert.equal(await node.run(), newRun);
  });

  it('takes back a config that the kubelet does not start with', async () => {
    pod = await node.startPod();
    await idleOn('local');
    cluster.assign({ maxPods: 666 });
    const status = await reaches('the error', (now) => now.phase === 'Idle' && now.error !== undefined);
    assert.equal(status.error?.reason, 'CrashLoop');
    assert.equal(await node.configFile(), node.localConfig);
  });

  it('gives the node up: local again with one restart, and nothing of ours left, whatever the API server wants', async () => {
    pod = await node.startPod();
    await idleOn('local');
    const name = cluster.assign({ maxPods: 79 });
    await idleOn(name);
    const runs = [await node.run()];
    await pod.stop();
    pod = await node.startPod({}, agentTemplate('uninstall'));
    const { command = [] } = agentTemplate('uninstall').containers[0].readinessProbe?.exec ?? {};
    await pod.pid();
    const isReady = await pod.exec(command);
    // What is still there now was there when it was asked.
    if ((await node.traces()).length > 0) assert.equal(isReady, false, 'its pod is not ready');
    await until('nothing to be left', async () => (await node.traces()).length === 0, {
      everyMs: 50,
      evidence: () => pod.log(),
    });
    await until('its pod to be ready', () => pod.exec(command));
    runs.push(await node.run());
    assert.notEqual(runs[1], runs[0]);
    assert.equal(await node.configFile(), node.localConfig);
    await idleOn('local');
    await pod.kill();
    pod = await node.startPod({}, agentTemplate('uninstall'));
    await until('to be idle again', async () => pod.log().includes('everything of ours is off'));
    assert.deepEqual(await node.traces(), []);
    await pod.stop();
    assert.deepEqual(await node.traces(), []);
    assert.equal(await node.run(), runs[1], 'one restart in all');
  });

  it('gives the node up in the middle of a trial, with the API server away', async () => {
    pod = await node.startPod();
    await idleOn('local');
    const before = await node.run();
    cluster.assign({ maxPods: 80 }, { trial: { duration: '10m', startTimeout: '1m', maxRestarts: 1 } });
    await until('the restart', async () => (await node.run()) !== before, { everyMs: 50 });
    const run = await node.run();
    await pod.kill();
    await cluster.outage.begin();
    try {
      pod = await node.startPod({}, agentTemplate('uninstall'));
      await until('nothing to be left', async () => (await node.traces()).length === 0, {
        everyMs: 50,
        evidence: () => pod.log(),
      });
    } finally {
      await cluster.outage.end();
    }
    assert.equal(await node.configFile(), node.localConfig);
    assert.notEqual(await node.run(), run);
    await idleOn('local');
  });

  it('says of a unit that it cannot look after why, before and after something is assigned, and changes nothing', async () => {
    pod = await node.startPod({ KUBELET_SERVICE: 'wrapper.service', KUBELET_UNIT_DIR: UNIT_DIRECTORY });
    await reaches('word of it at rest', ({ conditions = [] }) =>
      conditions.some(({ reason, message }) => reason === 'NoGuard' && /in kubelet\.service, .*wrapper/.test(message)),
    );
    await reaches('it not to be Ready', ({ conditions = [] }) =>
      conditions.some(
        ({ type, status, reason }) => type === 'Ready' && status === 'False' && reason === 'CannotInstall',
      ),
    );
    await until(
      'word of it in the log',
      async () => /set to wrapper\.service.*this kubelet cannot be looked after/.test(pod.log()),
      { evidence: pod.log },
    );
    cluster.assign({ maxPods: 81 });
    await reaches(
      'the error',
      ({ error }) => error?.reason === 'CannotInstall' && /wrapper\.service/.test(error.message),
    );
    assert.equal(await node.configFile(), node.localConfig);
  });

  it('says of a unit directory that a boot takes away why, before and after something is assigned, and changes nothing', async () => {
    await node.machine.run('mkdir', '-p', UNIT_DIRECTORY);
    await node.machine.run('mount', '-t', 'tmpfs', 'units', UNIT_DIRECTORY);
    try {
      pod = await node.startPod();
      await reaches('word of it at rest', ({ conditions = [] }) =>
        conditions.some(
          ({ reason, message }) => reason === 'NoGuard' && /KUBELET_UNIT_DIR\) is on tmpfs/.test(message),
        ),
      );
      cluster.assign({ maxPods: 82 });
      await reaches('the error', ({ error }) => error?.reason === 'CannotInstall' && /is on tmpfs/.test(error.message));
      assert.equal(await node.configFile(), node.localConfig);
    } finally {
      await node.machine.run('umount', '--lazy', UNIT_DIRECTORY);
    }
  });

  it('says that its state directory was deleted, which its mount still is, and goes on looking', async () => {
    pod = await node.startPod();
    await idleOn('local');
    const name = cluster.assign({ maxPods: 83 }, { trial: { duration: '3s', startTimeout: '1m', maxRestarts: 1 } });
    await idleOn(name);
    // Once more where the agent wrote meanwhile.
    await node.machine.run('sh', '-c', `rm -r ${STATE_DIRECTORY} || rm -r ${STATE_DIRECTORY}`);
    const lost = await reaches('word of it', ({ error }) => /ENOENT/.test(error?.message ?? ''));
    assert.deepEqual([lost.error?.reason, lost.active?.name], ['CheckpointFailed', name]);
    assert.equal(lost.conditions?.find(({ type }) => type === 'CheckpointsIntact')?.status, 'False');
    await node.machine.run('rm', LOCAL_CONFIG_FILE);
    await reaches('word of another loss', ({ phase }) => phase === 'Drifted');
  });

  for (const { volume, path, reason } of documentedNeeds()) {
    it(`without ${path} says ${reason}, and leaves the kubelet alone`, async () => {
      const run = await node.run();
      pod = await node.startPod({}, without(agentTemplate(), volume));
      await reaches('a first report', (now) => now.phase !== undefined);
      cluster.assign({ maxPods: 78 });
      await reaches(reason, ({ error, conditions = [] }) =>
        [error, ...conditions.filter(({ status }) => status === 'False')].some((each) => each?.reason === reason),
      );
      assert.equal(await node.run(), run);
      assert.equal(await node.configFile(), node.localConfig);
    });
  }
});

/** Mount points of a process, with `ro` or `rw`. */
async function mountsOf(pid: number): Promise<ReadonlyMap<string, string>> {
  const lines = (await readFile(`/proc/${pid}/mountinfo`, 'utf8')).trim().split('\n');
  return new Map(
    lines.map((line): [string, string] => {
      const [, , , , path = '', options = ''] = line.split(' ');
      return [path, options.split(',')[0] ?? ''];
    }),
  );
}

/** The kernel's own, and below /host what the host has mounted there. */
const isSystem = (path: string): boolean => /^\/(proc|sys|dev|host)(\/|$)/.test(path);

const without = (template: PodTemplate, volume: string): PodTemplate => {
  const [container] = template.containers;
  const volumeMounts = container.volumeMounts.filter(({ name }) => name !== volume);
  return { ...template, containers: [{ ...container, volumeMounts }] };
};

/** What docs/privileges.md says of each mount that is missing: the reason is the first word in code of its column. */
function documentedNeeds(): readonly { readonly volume: string; readonly path: string; readonly reason: string }[] {
  const { volumes } = agentTemplate();
  const rows = readFileSync('docs/privileges.md', 'utf8').matchAll(/^\| `(\/[^`]+)` \|[^|]*\|[^|]*\| `(\w+)`/gm);
  return [...rows].map(([, path = '', reason = '']) => {
    const volume = volumes.find(({ hostPath }) => hostPath.path === path)?.name;
    if (volume === undefined)
      throw new Error(`the DaemonSet does not mount ${path}, of which docs/privileges.md speaks`);
    return { volume, path, reason };
  });
}
