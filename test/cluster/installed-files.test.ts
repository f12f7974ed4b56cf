import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { isMarked } from '#agent/kubelet/install-marker.ts';
import type { Installer } from '#agent/ports/installer.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { nodeSkipReason } from './support/binaries.ts';
import { type ContainerRuntime, startContainerd } from './support/container-runtime.ts';
import { type ControlPlane, startControlPlane } from './support/control-plane.ts';
import { type Kubelet, startKubelet } from './support/kubelet.ts';
import { until } from '../support/until.ts';
import { installerOn } from '../support/agent/installer-on.ts';

// What the installer takes for granted about a kubelet, asked of a real one.
const skip = await nodeSkipReason();
const run = promisify(execFile);
let cluster: ControlPlane;
let runtime: ContainerRuntime;
let kubelet: Kubelet;
let installer: Installer;
let stateDirectory = '';

type Fields = Readonly<Record<string, unknown>>;

if (skip === false) {
  before(async () => {
    cluster = await startControlPlane();
    runtime = await startContainerd();
    kubelet = await startKubelet({ controlPlane: cluster, runtime, nodeName: 'node-a' });
    stateDirectory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-installed-'));
    installer = installerOn(createNodeDisk(), {
      stateDirectory,
      configFile: kubelet.configFile,
      kubeletRootDirectory: kubelet.rootDir,
      kubeletMinor: () => Promise.resolve('1.20'),
    });
  });
}

after(async () => {
  await kubelet?.stop();
  await runtime?.stop();
  await cluster?.stop();
  if (stateDirectory !== '') await rm(stateDirectory, { recursive: true });
});

const install = async (fields: Fields | null): Promise<void> =>
  installer.install(await installer.plan(fields === null ? null : { payload: canonicalize(fields), apply: 'overlay' }));

/** @returns how many starts it took until it is healthy, and has read its state, which it does later */
async function restart(): Promise<number> {
  const before = await kubelet.restarts();
  const readBefore = stateReads();
  await run('sh', ['-c', kubelet.restartCommand]);
  await until('a new process', async () => (await kubelet.restarts()) > before, { everyMs: 10 });
  await until('a healthy kubelet', kubelet.healthy, { everyMs: 20, evidence: kubelet.logTail });
  await until('a CPU manager', async () => stateReads() > readBefore, { everyMs: 20 });
  return (await kubelet.restarts()) - before;
}

const stateFile = (): string => join(kubelet.rootDir, 'cpu_manager_state');
/** A kubelet writes its state a moment after it is healthy, and that of "static" in two steps. @returns the file */
const stateOf = (policy: 'none' | 'static'): Promise<string> =>
  until(
    `the state of the policy ${policy}`,
    async () => {
      const text = await readFile(stateFile(), 'utf8');
      const { policyName, defaultCpuSet } = JSON.parse(text) as Readonly<Record<string, string | undefined>>;
      return policyName === policy && (policy === 'none' || defaultCpuSet !== '') && text;
    },
    { everyMs: 50, evidence: kubelet.logTail },
  );
const stateReads = (): number => kubelet.logTail(20_000).split('[cpumanager] reconciling every').length;
const says = (words: RegExp): boolean => words.test(kubelet.logTail(20_000));

const STATIC: Fields = { cpuManagerPolicy: 'static', systemReserved: { cpu: '1' } };

test('a kubelet reads our file below its mark, every character of it', { skip }, async () => {
  const note = 'a\u0085b\u2028c\ufeffd "e" \\ é 😀 #';
  const fields = { maxPods: 77, registryPullQPS: 7, staticPodURLHeader: { 'X-Note': [note] } };
  await install(fields);
  assert.ok(isMarked(await readFile(kubelet.configFile)));
  assert.equal(await restart(), 1);
  const running = await kubelet.configz();
  assert.deepEqual([running['maxPods'], running['registryPullQPS']], [77, 7]);
  assert.deepEqual(running['staticPodURLHeader'], fields.staticPodURLHeader);
});

test(
  'a kubelet refuses the state of another policy, and a torn one: what is put aside is put aside for a reason',
  { skip },
  async () => {
    await install(null);
    await restart();
    const state = await stateOf('none');
    const local = await readFile(kubelet.configFile);
    for (const [text, said] of [
      [JSON.stringify({ policyName: 'static', defaultCpuSet: '0', checksum: 0 }), /configured policy .*none.* differs/],
      ['{"policyName":"no', /could not restore state from checkpoint/],
    ] as const) {
      await writeFile(stateFile(), text);
      const before = await kubelet.restarts();
      await run('sh', ['-c', kubelet.restartCommand]);
      await until('it dies again and again', async () => (await kubelet.restarts()) > before + 1);
      assert.ok(says(said), String(said));
      await install({ maxPods: 50 });
      await until('it comes up', kubelet.healthy, { evidence: kubelet.logTail });
      await stateOf('none');
      await install(null);
    }
    assert.deepEqual(await readFile(kubelet.configFile), local);
    assert.deepEqual(JSON.parse(await stateOf('none')), JSON.parse(state));
  },
);

test('a kubelet goes from none to static and back with one start each', { skip }, async () => {
  // Twice, as the agent does: a kubelet that is healthy may not have read its state yet, and writes it once more.
  const change = async (fields: Fields | null): Promise<void> => {
    await install(fields);
    await install(fields);
    assert.equal(await restart(), 1);
  };
  await change(STATIC);
  const state = await stateOf('static');
  await change(null);
  await stateOf('none');
  await change(STATIC);
  assert.equal(await stateOf('static'), state, 'byte by byte');
  assert.equal((await kubelet.configz())['cpuManagerPolicy'], 'static');
});
