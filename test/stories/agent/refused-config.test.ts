import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { createAgent } from '#agent/agent.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { createReadCommandLine } from '#agent/kubelet/command-line.ts';
import { createHostProbe } from '#agent/kubelet/host-probe.ts';
import { createCommandService } from '#agent/kubelet/service-command.ts';
import { createHostFiles } from '#agent/host/host-files.ts';
import { createHostFactsReader } from '#agent/preflight/gather-host-facts.ts';
import { createPreflight } from '#agent/preflight/preflight.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { configMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { type Daemon, startDaemon } from '../../cluster/support/daemon.ts';
import { freePorts } from '../../cluster/support/free-ports.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { until } from '../../support/until.ts';
import { without } from '../../support/required-tools.ts';
import { createFakeKube, type FakeKube } from '../../support/agent/fake-kube.ts';
import { installerOn } from '../../support/agent/installer-on.ts';

const NODE = 'node-1';
const WITHIN = { withinMs: 20_000, everyMs: 20 };

const skip = without('setpriv', ['--version'], 'nothing proves on real processes that a refusal costs no restart');

/** Real processes under a real supervisor, which keeps count. */
describeOrSkip('a config that is refused', { skip }, () => {
  let directory: string;
  let configFile: string;
  let supervisor: Daemon;
  let kube: FakeKube;
  let running: Promise<void>;
  const stop = new AbortController();

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-refused-'));
    configFile = join(directory, 'config.yaml');
    const [healthzPort = 0] = await freePorts(1);
    const header = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
    await writeFile(configFile, JSON.stringify({ ...header, healthzPort, enableServer: false }));
    supervisor = startDaemon({
      name: 'the supervisor',
      command: 'test/cluster/support/kubelet-supervisor.sh',
      args: [directory, process.execPath, 'test/support/agent/stub-kubelet.js', configFile],
      logFile: join(directory, 'kubelet.log'),
    });
    await until('the first start', () => readFile(join(directory, 'kubelet.pid')), WITHIN);
    kube = createFakeKube();
    kube.put('nodes', { metadata: { name: NODE }, status: { nodeInfo: { kubeletVersion: 'v1.34.2' } } });
    running = agent().run(stop.signal);
  });

  after(async () => {
    stop.abort();
    await running;
    await supervisor?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const agent = () => {
    const disk = createNodeDisk();
    const stateDirectory = join(directory, 'state');
    const restartCommand = `kill -HUP ${supervisor.pid}`;
    const service = createCommandService({ restartCommand, pidFile: join(directory, 'kubelet.pid') });
    const files = createHostFiles('/');
    const readCommandLine = createReadCommandLine({ files, unit: '' });
    const host = createHostFactsReader({
      files,
      commandLine: async () => readCommandLine(await service.status(stop.signal)),
    });
    return createAgent({
      nodeName: NODE,
      stateDirectory,
      kube,
      disk,
      service,
      probe: createHostProbe({ token: () => Promise.resolve(''), servingCertFiles: [] }),
      installer: installerOn(disk, { stateDirectory, configFile }),
      preflight: createPreflight({ configFile, configDirectory: undefined, host }),
      bootId: () => Promise.resolve('boot-1'),
      clock: systemClock,
      random: Math.random,
      log: silentLog,
      timing: { changingMs: 100 },
    });
  };

  const assign = (fields: Readonly<Record<string, unknown>>): string => {
    const payload = JSON.stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      ...fields,
    });
    const name = configMapName('general', payload);
    const place = { namespace: 'kubelet-gitops', name, uid: `uid-${name}` };
    kube.put('configmaps', { metadata: place, data: { kubelet: payload } });
    const configSource = { ...place, resourceVersion: '7', key: 'kubelet', sha256: payloadSha256(payload) };
    const trial = { duration: '1s', startTimeout: '10s', maxRestarts: 0 };
    kube.assign(NODE, { pool: 'general', commit: 'c0ffee', configSource, apply: 'overlay', trial });
    return name;
  };
  const reaches = (what: string, holds: (status: KubeletNodeStatus) => boolean): Promise<unknown> =>
    until(what, async () => holds(kube.status(NODE)), {
      ...WITHIN,
      evidence: () => `${JSON.stringify(kube.status(NODE))}\n${supervisor.logTail()}`,
    });
  const told = async (name: string): Promise<readonly string[]> =>
    [await readFile(join(directory, name), 'utf8')].map((text) => text.trim());

  for (const [by, fields, reason] of [
    ['validation', { imageGCHighThresholdPercent: 400 }, 'ConfigInvalid'],
    ['preflight', { reservedSystemCPUs: '4000' }, 'PreflightFailed'],
  ] as const) {
    it(`by ${by} leaves the kubelet’s process alone, and its config file`, async () => {
      const [pid, file] = [await told('kubelet.pid'), await told('config.yaml')];
      const name = assign(fields);
      await reaches(`refused by ${by}`, ({ error, phase }) => error?.config === name && phase === 'Idle');
      assert.equal(kube.status(NODE).error?.reason, reason);
      assert.deepEqual(await told('restarts'), ['0']);
      assert.deepEqual([await told('kubelet.pid'), await told('config.yaml')], [pid, file]);
    });
  }

  it('leaves the next one that is good with one restart', async () => {
    const name = assign({ maxPods: 60 });
    await reaches('good', ({ lastKnownGood, phase }) => lastKnownGood?.name === name && phase === 'Idle');
    assert.deepEqual(await told('restarts'), ['1']);
  });
});
