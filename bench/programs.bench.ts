import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../scripts/build.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { startSandbox } from '#sandbox/sandbox.ts';
import { templateFiles } from '#sandbox/demo/template-repository.ts';
import { freePorts } from '../test/cluster/support/free-ports.ts';
import { manifestFlags, manifestMalloc } from '../test/support/manifest-flags.ts';
import type { Measurement } from './render-measurements.ts';

const RUNS = 3;
/** Long enough for V8 to have collected what the start left behind. */
const IDLE_MS = 10_000;

interface Sample {
  readonly readyMs: number;
  readonly rssMiB: number;
  readonly anonMiB: number;
}

/** Start to ready, and memory after a while of doing nothing: the two bundles, against an empty Node in the same run. */
export async function measure(): Promise<readonly Measurement[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  const world = await startSandbox({
    cluster: 'demo',
    nodes: [{ name: 'node-1', labels: { 'node-role.kubernetes.io/worker': '' } }],
    log: () => silentLog,
    pollMs: 1000,
  });
  try {
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    await bundle('agent', directory);
    await bundle('reconciler', directory);
    await writeFile(join(directory, 'bare.js'), 'console.log(\'"msg":"started"\'); setInterval(() => {}, 1e6);');
    await world.git.commit({ files: await templateFiles(), message: 'Start' });
    await world.until('settled', (view) => view.pools.length === 3, 60_000);
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigFor(world.api.url, world.adminToken));
    const shared = { KUBECONFIG: kubeconfig, KUBE_SERVER: world.api.url, PATH: process.env['PATH'] ?? '' };
    const reconcilerEnv = {
      ...shared,
      CLUSTER: 'demo',
      GIT_URL: world.git.url,
      HEALTH_PORT: String((await freePorts(1))[0]),
      METRICS_PORT: '0',
      NOTES: 'off',
    };
    const agentEnv = {
      ...shared,
      ...world.nodes.get('node-1')?.agentEnv,
      NODE_NAME: 'node-1',
      STATE_DIR: join(directory, 'state'),
    };

    const samples: Record<'bare' | 'agent' | 'reconciler', Sample[]> = { bare: [], agent: [], reconciler: [] };
    for (let run = 0; run < RUNS; run += 1) {
      samples.bare.push(await sample([join(directory, 'bare.js')], {}));
      samples.agent.push(
        await sample([...manifestFlags('agent'), join(directory, 'agent.js')], {
          ...agentEnv,
          ...manifestMalloc('agent'),
        }),
      );
      samples.reconciler.push(
        await sample([...manifestFlags('reconciler'), join(directory, 'reconciler.js')], {
          ...reconcilerEnv,
          ...manifestMalloc('reconciler'),
        }),
      );
    }
    const pick = (program: keyof typeof samples, figure: keyof Sample): number[] =>
      samples[program].map((one) => one[figure]);
    return (['agent', 'reconciler'] as const).flatMap((program) => [
      against(`${program}: start to ready`, 'ms', pick(program, 'readyMs'), pick('bare', 'readyMs')),
      against(`${program}: RSS idle`, 'MiB', pick(program, 'rssMiB'), pick('bare', 'rssMiB')),
      against(`${program}: private memory idle`, 'MiB', pick(program, 'anonMiB'), pick('bare', 'anonMiB')),
    ]);
  } finally {
    await world.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function against(what: string, unit: string, subject: readonly number[], bare: readonly number[]): Measurement {
  return { what, unit, subject, baseline: { what: 'empty Node', values: bare } };
}

async function sample(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<Sample> {
  const begun = performance.now();
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await said(child, /"msg":"(?:started|ready)"/);
    const readyMs = performance.now() - begun;
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
    const kib = (field: string): number =>
      Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN);
    return { readyMs, rssMiB: kib('VmRSS') / 1024, anonMiB: kib('RssAnon') / 1024 };
  } finally {
    child.kill('SIGKILL');
  }
}

function said(child: ChildProcess, words: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (words.test(text)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`it ended with ${code} before it was ready: ${text}`)));
  });
}

const kubeconfigFor = (server: string, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bench',
    clusters: [{ name: 'bench', cluster: { server } }],
    users: [{ name: 'bench', user: { token } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
  });
