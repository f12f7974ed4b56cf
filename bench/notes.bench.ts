import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createAnnotator } from '#reconciler/git/notes/notes-annotator.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { nativeGit } from '../test/sandbox/git-server/support/native-git.ts';
import { type GitHttpBackend, startGitHttpBackend } from '../test/support/git-http-backend.ts';
import type { Measurement } from './render-measurements.ts';

const REF = 'refs/notes/kubelet-gitops/bench';
const RUNS = 3;
const FEW = 100;
/** Of what is beside one note for programs, as a cluster of a few pools has it. */
const NOTE_BYTES = 1_200;
const LINE = 'bench: settled (3 pools, 40 nodes)';

/** A note among a hundred, a thousand and ten thousand others: against the git binary, which fetches them all first. */
export async function measure(): Promise<readonly Measurement[]> {
  const costs = new Map<number, Costs>();
  for (const count of [FEW, 1_000, 10_000]) costs.set(count, await costsAmong(count));
  const few = costs.get(FEW);
  return [...costs].flatMap(([count, { ours, git, next, heldMiB }]) => [
    row(`the first note among ${count}: bytes on the wire`, 'B', ours.bytes, git.bytes, few?.ours.bytes),
    row('the same: time', 'ms', ours.ms, git.ms),
    row('the next note: bytes on the wire', 'B', next.bytes, git.nextBytes, few?.next.bytes),
    row('the same: time', 'ms', next.ms, git.nextMs),
    {
      what: 'memory that is held between notes',
      unit: 'MiB',
      subject: heldMiB,
      baseline: { what: 'git, which has them on disk', values: [0] },
    },
  ]);
}

interface Costs {
  readonly ours: Cost;
  readonly next: Cost;
  readonly git: Cost & { readonly nextBytes: number[]; readonly nextMs: number[] };
  readonly heldMiB: number[];
}
interface Cost {
  readonly bytes: number[];
  readonly ms: number[];
}

function row(
  what: string,
  unit: string,
  subject: readonly number[],
  values: readonly number[],
  few?: readonly number[],
): Measurement {
  const baseline = { what: 'git fetch, notes append, push', values };
  if (few === undefined) return { what, unit, subject, baseline };
  const kept = Math.max(...subject) <= 3 * Math.max(...few);
  return { what, unit, subject, baseline, promise: { text: `at most three times that of ${FEW}`, kept } };
}

async function costsAmong(count: number): Promise<Costs> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  const ends: (() => unknown)[] = [];
  const server = await startGitHttpBackend({
    after: (end) => void (end !== undefined && ends.push(end as () => unknown)),
  });
  const costs: Costs = {
    ours: { bytes: [], ms: [] },
    next: { bytes: [], ms: [] },
    git: { bytes: [], ms: [], nextBytes: [], nextMs: [] },
    heldMiB: [],
  };
  try {
    await server.git.feed(history(count), 'fast-import', '--quiet');
    const commits = (await server.git('rev-list', 'main')).split('\n');
    for (let run = 0; run < RUNS; run += 1) {
      const [a = '', b = '', c = '', d = ''] = commits.slice(4 * run);
      await measureOurs(server, [a, b], costs);
      await measureGit(server, join(directory, String(run)), [c, d], costs.git);
    }
    return costs;
  } finally {
    for (const end of ends) await end();
    await rm(directory, { recursive: true, force: true });
  }
}

async function measureOurs(server: GitHttpBackend, commits: readonly [string, string], costs: Costs): Promise<void> {
  const annotator = createAnnotator({
    url: server.url,
    ref: REF,
    credentials: fileCredentials(undefined),
    clock: systemClock,
    random: Math.random,
  });
  const before = heldBytes();
  for (const [index, commit] of commits.entries()) {
    const notes = new Map([[commit, { text: LINE, data: textOf(commit) }]]);
    const into = index === 0 ? costs.ours : costs.next;
    await measured(server, into, () => annotator.annotate(notes, AbortSignal.timeout(60_000)));
  }
  costs.heldMiB.push(Math.max(0, heldBytes() - before) / 1024 / 1024);
}

async function measureGit(
  server: GitHttpBackend,
  directory: string,
  commits: readonly [string, string],
  into: Costs['git'],
): Promise<void> {
  const git = nativeGit(directory);
  await server.git('init', '--quiet', '--bare', directory);
  await git('fetch', '--quiet', '--depth', '100', server.url, 'refs/heads/main');
  const annotate = async (commit: string): Promise<void> => {
    await git('fetch', '--quiet', '--depth', '1', server.url, `+${REF}:${REF}`);
    await git('notes', `--ref=${REF}`, 'append', '-m', textOf(commit), commit);
    await git('push', '--quiet', server.url, `${REF}:${REF}`);
  };
  await measured(server, into, () => annotate(commits[0]));
  await measured(server, { bytes: into.nextBytes, ms: into.nextMs }, () => annotate(commits[1]));
}

async function measured(server: GitHttpBackend, { bytes, ms }: Cost, work: () => Promise<unknown>): Promise<void> {
  server.wire();
  const begun = performance.now();
  await work();
  ms.push(performance.now() - begun);
  const { up, down } = server.wire();
  bytes.push(up + down);
}

/** What is alive on the heap, buffers included. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const oidOf = (text: string): string => createHash('sha1').update(text).digest('hex');

/** Text that does not compress away: names and hashes, as notes have them. */
const textOf = (seed: string): string =>
  Array.from({ length: NOTE_BYTES / 40 }, (_, n) => oidOf(`${seed} ${n}`)).join('');

/** Input of git fast-import: a branch of a few commits, and notes on commits that are long gone. */
function history(count: number): string {
  const by = 'committer A <a@example.org> 1767225600 +0000\ndata 0\n\n';
  const commits = Array.from({ length: 4 * RUNS }, () => `commit refs/heads/main\n${by}`);
  const notes = Array.from({ length: count }, (_, n) => {
    const oid = oidOf(String(n));
    const place = `M 100644 inline ${oid.slice(0, 2)}/${oid.slice(2)}`;
    return `${place}\ndata ${LINE.length}\n${LINE}\n${place}.json\ndata ${NOTE_BYTES}\n${textOf(oid)}\n`;
  });
  return `${commits.join('')}commit ${REF}\n${by}${notes.join('')}`;
}
