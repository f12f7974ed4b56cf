import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { createGitSource } from '#reconciler/git/git-source.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { Measurement } from './render-measurements.ts';
import type { GitBenchQuestion, GitBenchServer } from './git-server.ts';
import { peakRssMiB } from './support/peak-memory.ts';
import { figuresOf } from './support/process-figures.ts';
import { timedProgram } from './support/timed-program.ts';

const RUNS = 7;
const POOLS = 500;

/** A poll that finds nothing new, and a new commit in a repository of a thousand files: against the git binary. */
export async function measure(): Promise<readonly Measurement[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  const server = await startServer();
  const { url } = server;
  const never = new AbortController().signal;
  const source = createGitSource({ url, branch: 'main', credentials: fileCredentials(undefined), clock: systemClock });
  try {
    const idleMiB = (await figuresOf(process.pid)).rssMiB;
    await source.resolve(never);
    const poll = { bytes: [] as number[], cpu: [] as number[], gitBytes: [] as number[], gitCpu: [] as number[] };
    for (let run = 0; run < RUNS; run += 1) {
      await server.bytes();
      const before = process.cpuUsage();
      await source.resolve(never);
      const { user, system } = process.cpuUsage(before);
      poll.cpu.push((user + system) / 1000);
      poll.bytes.push(await server.bytes());
      poll.gitCpu.push(timedProgram('git', ['ls-remote', url, 'refs/heads/main']).cpuMs);
      poll.gitBytes.push(await server.bytes());
    }
    const commit = { ours: [] as number[], git: [] as number[], peak: [] as number[] };
    for (let run = 0; run < RUNS; run += 1) {
      await server.change(run);
      const begun = performance.now();
      const { files } = await source.snapshot(null, never);
      const { pools } = loadRepo(files, { cluster: 'bench' });
      commit.ours.push(performance.now() - begun);
      if (pools.length !== POOLS) throw new Error(`${pools.length} pools of ${POOLS} were read`);
      const clone = ['clone', '--quiet', '--depth', '1', url, join(directory, String(run))];
      commit.git.push(timedProgram('git', clone).wallMs);
      commit.peak.push(await peakRssMiB(process.pid));
    }
    return [
      {
        what: 'no-op poll: bytes on the wire, both ways',
        unit: 'B',
        subject: poll.bytes,
        baseline: { what: 'git ls-remote', values: poll.gitBytes },
        promise: { text: 'at most 1024 B', kept: Math.max(...poll.bytes) <= 1024 },
      },
      {
        what: 'no-op poll: CPU',
        unit: 'ms',
        subject: poll.cpu,
        baseline: { what: 'git ls-remote', values: poll.gitCpu },
      },
      {
        what: `new commit, ${POOLS * 2} files: fetched, read, validated`,
        unit: 'ms',
        subject: commit.ours,
        baseline: { what: 'git clone --depth 1 alone', values: commit.git },
      },
      {
        what: 'the same: peak RSS',
        unit: 'MiB',
        subject: commit.peak,
        baseline: { what: 'before', values: [idleMiB] },
      },
    ];
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** The git server is a process of its own, so that its work is not counted as ours. */
async function startServer(): Promise<GitBenchServer> {
  const child = fork(new URL('git-server.ts', import.meta.url), [String(POOLS)]);
  const answer = async (): Promise<unknown> => ((await once(child, 'message')) as unknown[])[0];
  const ask = (question: GitBenchQuestion): Promise<unknown> => {
    const answered = answer();
    child.send(question);
    return answered;
  };
  const url = String(await answer());
  return {
    url,
    bytes: async () => Number(await ask('bytes')),
    change: async (run) => void (await ask({ change: run })),
    stop: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}
