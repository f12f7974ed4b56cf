import assert from 'node:assert/strict';
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMostTimes, type Measurement } from './render-measurements.ts';
import { kubeconfigOf } from '../test/support/kubeconfig/one-cluster.ts';

const NODES = 5_000;
/** As `audit` and `import` ask through an API server. */
const AT_ONCE = 16;
const RUNS = 3;
const ROOT = join(import.meta.dirname, '..');
const SUPPORT = join(import.meta.dirname, 'support');
const CLI = join(ROOT, 'cli/bin.js');
/** Times those of `import`, which judges less. */
const MOST_TIMES = 2.5;

interface Use {
  readonly cpuMs: number;
  readonly peakMiB: number;
}

/** `audit` of 5,000 nodes through the sandbox's API server, beside a process that only reads the same answers, and beside `import`. */
export async function measure(): Promise<readonly Measurement[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  const fleet = fork(join(SUPPORT, 'answering-fleet.ts'), [String(NODES)], { execPath: process.execPath });
  try {
    const [url] = (await once(fleet, 'message')) as [string];
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigOf({ server: url }));
    const audits: Use[] = [];
    const reads: Use[] = [];
    const imports: Use[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const [report, repo] = [join(directory, 'use'), join(directory, `repo-${run}`)];
      reads.push(await useOf(report, [join(SUPPORT, 'ask-kubelets.js'), url, String(AT_ONCE)]));
      imports.push(await useOf(report, [CLI, 'import', '--kubeconfig', kubeconfig, '--into', repo]));
      const audit = [CLI, 'audit', '--kubeconfig', kubeconfig, '-o', 'json', '--fail-on', 'never'];
      audits.push(await useOf(report, audit, assertWhole));
    }
    return rows('CPU', 'ms', 'cpuMs').concat(rows('peak RSS', 'MiB', 'peakMiB'));

    function rows(what: string, unit: string, of: keyof Use): readonly Measurement[] {
      const values = (uses: readonly Use[]): readonly number[] => uses.map((use) => use[of]);
      const beside = { subject: values(audits), baseline: { what: 'import of the same', values: values(imports) } };
      return [
        { what: `audit of ${NODES} nodes: ${what}`, unit, ...beside, promise: atMostTimes(MOST_TIMES, beside) },
        {
          what: `the same: ${what}`,
          unit,
          subject: values(audits),
          baseline: { what: 'only reading and parsing the answers', values: values(reads) },
        },
      ];
    }
  } finally {
    await endOf(fleet);
    await rm(directory, { recursive: true, force: true });
  }
}

/** Of a program of its own, run to its end; 1 says that nodes were left out. @throws where it fails otherwise */
async function useOf(file: string, args: readonly string[], check: (out: string) => void = () => {}): Promise<Use> {
  const given = ['--import', join(SUPPORT, 'report-use.js'), ...args];
  const options = { env: { ...process.env, USE_FILE: file }, maxBuffer: 256 * 2 ** 20 };
  const out = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, given, options, (error, stdout) =>
      error === null || error.code === 1 ? resolve(stdout) : reject(error),
    );
  });
  check(out);
  return JSON.parse(await readFile(file, 'utf8')) as Use;
}

/** What was measured is what is promised: dead and forbidden nodes are said, and all others are seen. */
function assertWhole(out: string): void {
  const { nodes, unseen } = JSON.parse(out) as {
    readonly nodes: object;
    readonly unseen: readonly { readonly reason: string; readonly nodes: readonly string[] }[];
  };
  assert.deepEqual(nodes, { seen: 0.97 * NODES, of: NODES });
  const counts = Object.fromEntries(unseen.map((each) => [each.reason, each.nodes.length]));
  assert.deepEqual(counts, { 'no-answer': 0.02 * NODES, forbidden: 0.01 * NODES });
}

async function endOf(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}
