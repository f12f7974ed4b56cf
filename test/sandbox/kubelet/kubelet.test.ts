import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ServiceStatus } from '#agent/ports/kubelet-service.ts';
import { createSimulatedKubelet, type SimulatedKubelet } from '#sandbox/kubelet/kubelet.ts';
import type { NodeReport, SimulatedKubeletOptions } from '#sandbox/kubelet/kubelet-options.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import { until } from '../../support/until.ts';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const TIMING = { stopMs: 0, loadMs: 0, startMs: 0, readyMs: 0, restartMs: 5, heartbeatMs: 1000, lostMs: 1000 };
const ADDRESS = { healthz: { host: '127.0.0.1', port: 10248 }, api: { host: '127.0.0.1', port: 10250 } };
const never = new AbortController().signal;

describe('the simulated kubelet', () => {
  let directory: string;
  let kubelet: SimulatedKubelet;
  let reports: NodeReport[];
  const create = async (options: Partial<SimulatedKubeletOptions> = {}): Promise<void> => {
    reports = [];
    const base = {
      directory,
      version: 'v1.34.2',
      timing: TIMING,
      onReport: (report: NodeReport) => reports.push(report),
    };
    kubelet = await createSimulatedKubelet({ ...base, ...options });
  };
  const status = (): Promise<ServiceStatus> => kubelet.service.status(never);
  const runs = (): Promise<true> => until('it runs', () => kubelet.running() !== null);
  const write = (text: string): Promise<void> => writeFile(kubelet.configFile, HEAD + text);
  const dropIn = (name: string, text: string): Promise<void> =>
    writeFile(join(kubelet.dropInDirectory ?? '', name), HEAD + text);
  /** Writes the config and restarts. */
  const runWith = async (text: string): Promise<void> => {
    await write(text);
    const before = kubelet.starts();
    await kubelet.service.restart('test', never);
    await until('it was started again', () => kubelet.starts() > before);
  };
  const diesSaying = async (words: RegExp): Promise<void> => {
    await until(`it dies saying ${String(words)}`, () => words.test(kubelet.lastWords()));
    await until('it is started again and again', () => kubelet.starts() > 3);
    assert.equal(kubelet.running(), null);
    assert.ok(((await status()).automaticRestarts ?? 0) >= 1);
  };

  beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-simulated-'))));
  afterEach(async () => {
    await kubelet.close();
    await rm(directory, { recursive: true });
  });

  it('comes up with its local config, answers on real ports and reports the node as Ready', async () => {
    await create({ localConfig: `${HEAD}maxPods: 42\n` });
    assert.deepEqual(await status(), { state: 'stopped', run: null, automaticRestarts: 0 });
    assert.equal((await kubelet.probe.health(ADDRESS, never)).health, 'down');
    await kubelet.start();
    await runs();
    assert.deepEqual(await kubelet.probe.health(ADDRESS, never), { health: 'ok' });
    const running = await kubelet.probe.runningConfig(ADDRESS, never);
    assert.ok(running.seen);
    assert.equal(running.config['maxPods'], 42);
    assert.equal(running.config['healthzPort'], 10248, 'defaults are in it');
    await until('the node is Ready', () => reports.at(-1)?.ready === 'True');
    assert.equal(reports.at(-1)?.kubeletVersion, 'v1.34.2');
    const { state, run, automaticRestarts } = await status();
    assert.deepEqual({ state, automaticRestarts }, { state: 'running', automaticRestarts: 0 });
    assert.notEqual(run, null);
  });

  it('answers nothing that it does not listen on', async () => {
    await create({ localConfig: `${HEAD}healthzPort: 20248\nenableServer: true\n`, showsConfigz: false });
    await kubelet.start();
    await runs();
    assert.equal((await kubelet.probe.health(ADDRESS, never)).health, 'down');
    const there = { ...ADDRESS, healthz: { host: '127.0.0.1', port: 20248 } };
    assert.equal((await kubelet.probe.health(there, never)).health, 'ok');
    const running = await kubelet.probe.runningConfig(ADDRESS, never);
    assert.equal(running.seen ? 'seen' : running.why, 'forbidden');
    await kubelet.stop();
    assert.equal((await kubelet.probe.health(there, never)).health, 'down');
  });

  it('lays its drop-ins over the config with its defaults, in lexical order', async () => {
    await create({ localConfig: `${HEAD}maxPods: 42\n` });
    await dropIn('20-more.conf', 'maxPods: 60\nevictionHard: {memory.available: 1Gi}\n');
    await dropIn('10-first.conf', 'maxPods: 50\nclusterDomain: first\n');
    await dropIn('30-note.yaml', 'maxPods: 70\n');
    await kubelet.start();
    await runs();
    const { maxPods, clusterDomain, evictionHard } = kubelet.running() ?? {};
    assert.deepEqual({ maxPods, clusterDomain }, { maxPods: 60, clusterDomain: 'first' });
    assert.equal((evictionHard as Record<string, string>)['memory.available'], '1Gi');
    assert.equal((evictionHard as Record<string, string>)['nodefs.available'], '10%', 'the other signals keep theirs');
  });

  it('runs as every version from 1.20 on', async () => {
    await create({ version: 'v1.20.2' });
    await kubelet.start();
    await runs();
    for (let minor = 21; minor <= 36; minor += 1) {
      kubelet.upgrade(`v1.${minor}.0`);
      const before = kubelet.starts();
      await kubelet.service.restart('upgrade', never);
      await until(`1.${minor} runs`, () => kubelet.starts() > before && kubelet.running() !== null);
      assert.equal(kubelet.lastWords(), '');
    }
  });

  it('knows no drop-ins before 1.28, and knows them after an upgrade', async () => {
    await create({ version: 'v1.27.16', localConfig: `${HEAD}maxPods: 42\n` });
    await dropIn('10.conf', 'maxPods: 50\n');
    await kubelet.start();
    await runs();
    assert.equal(kubelet.running()?.['maxPods'], 42);
    kubelet.upgrade('v1.28.0');
    await kubelet.service.restart('upgrade', never);
    await until('the drop-in counts', () => kubelet.running()?.['maxPods'] === 50);
  });

  it('goes on without the fields that it does not know, as real ones do', async () => {
    await create();
    await write('maxPodz: 3\nmaxpods: 4\n');
    await kubelet.start();
    await runs();
    assert.equal(kubelet.running()?.['maxPods'], 110);
  });

  it('dies of a config that it refuses, again and again, and of an order comes up with a better one', async () => {
    await create();
    await write('maxPods: -1\n');
    await kubelet.start();
    await diesSaying(/failed to validate kubelet configuration: .*maxPods/i);
    await runWith('maxPods: 5\n');
    await runs();
    const { state, automaticRestarts } = await status();
    assert.deepEqual({ state, automaticRestarts }, { state: 'running', automaticRestarts: 0 });
  });

  for (const [what, text, words] of [
    ['more CPUs than there are', 'reservedSystemCPUs: 0-9\n', /reservedSystemCPUs/],
    [
      'a cgroup that does not exist',
      'enforceNodeAllocatable: [pods, system-reserved]\nsystemReservedCgroup: /nowhere.slice\n',
      /"\/nowhere.slice": cgroup does not exist/,
    ],
    ['a file that is no config', '}{', /failed to load kubelet config file/],
    ['an unknown gate', 'featureGates: {Nope: true}\n', /Nope/],
  ] as const) {
    it(`dies of ${what}`, async () => {
      await create();
      await write(text);
      await kubelet.start();
      await diesSaying(words);
    });
  }

  it('dies of another manager policy until the state file is gone', async () => {
    await create();
    await kubelet.start();
    await runs();
    await runWith('cpuManagerPolicy: static\nreservedSystemCPUs: "0"\n');
    await diesSaying(/differs from state checkpoint policy "none"/);
    assert.match(await readFile(join(kubelet.rootDirectory, 'cpu_manager_state'), 'utf8'), /none/);
    await rm(join(kubelet.rootDirectory, 'cpu_manager_state'));
    await runs();
  });

  it('that is killed comes up as another run, and whoever watches hears of it', async () => {
    await create();
    await kubelet.start();
    await runs();
    const { run } = await status();
    const heard: string[] = [];
    const unwatch = kubelet.service.watch(() => heard.push('changed'));
    kubelet.kill();
    await until('its end', () => heard.length > 0);
    assert.equal((await status()).lastExit, 'signal KILL');
    await runs();
    assert.notEqual((await status()).run, run);
    assert.equal((await status()).automaticRestarts, 1);
    unwatch();
  });

  it('has another boot id after a reboot, and a restart that is none of its own', async () => {
    await create({ timing: { ...TIMING, rebootMs: 1 } });
    await kubelet.start();
    await runs();
    const before = kubelet.bootId();
    await kubelet.reboot();
    await runs();
    assert.notEqual(kubelet.bootId(), before);
    assert.equal((await status()).automaticRestarts, 0);
  });

  for (const [fault, health] of [
    [{ fault: 'hang' }, 'down'],
    [{ fault: 'unhealthy', reason: 'syncloop' }, 'failing'],
    [{ fault: 'not-ready', reason: 'container runtime is down' }, 'ok'],
  ] as const) {
    it(`with the fault ${fault.fault} has a process, is ${health} and does not make the node Ready`, async () => {
      await create({ fault: () => fault });
      await kubelet.start();
      await until('it got that far', () => kubelet.running() !== null || fault.fault === 'hang');
      assert.equal((await status()).state, 'running');
      assert.equal((await kubelet.probe.health(ADDRESS, never)).health, health);
      if (fault.fault === 'not-ready') await until('it says so', () => reports.at(-1)?.ready === 'False');
    });
  }

  describe('in slow motion', () => {
    let clock: ManualClock;
    const slow = { loadMs: 100, startMs: 100, readyMs: 100, restartMs: 10_000, heartbeatMs: 10_000, lostMs: 40_000 };
    beforeEach(() => void (clock = createManualClock()));

    it('keeps the node Ready over a restart, and loses it after a silence', async () => {
      await create({ clock, timing: { ...slow, stopMs: 10 }, endpoints: 'direct' });
      await kubelet.start();
      await advanceUntil('Ready', () => reports.at(-1)?.ready === 'True');
      await kubelet.service.restart('test', never);
      await advanceUntil('up again', () => kubelet.starts() === 2 && kubelet.running() !== null);
      assert.ok(reports.every(({ ready }) => ready === 'True'));
      await write('maxPods: -1\n');
      await kubelet.service.restart('test', never);
      await advanceUntil('the node is lost', () => reports.at(-1)?.ready === 'Unknown');
      assert.ok(kubelet.starts() >= 4, 'it was tried every ten seconds meanwhile');
    });

    /** Files are read in real time, everything else happens by the clock. */
    async function advanceUntil(what: string, holds: () => boolean): Promise<void> {
      for (let step = 0; !holds(); step += 1) {
        if (step > 2000) throw new Error(`waited in vain until ${what}`);
        await clock.advance(100);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  });
});
