import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Measurement, median } from './render-measurements.ts';
import { writeConfigRepo } from './support/config-repo.ts';

const RUNS = 5;
const BOUND_MS = 3_000;
const ROOT = join(import.meta.dirname, '..');

/** Reads and parses the same files, and does nothing with them: the least that a reader of YAML with that library can take. */
const PARSE_ONLY = `import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from ${JSON.stringify(join(ROOT, 'node_modules/yaml/dist/index.js'))};
const entries = await readdir(process.argv[2], { recursive: true, withFileTypes: true });
for (const entry of entries) {
  if (entry.isFile()) parse(await readFile(join(entry.parentPath, entry.name), 'utf8'));
}
`;

/**
 * The whole command, from its start to its end, over 1,000 pools (2,000 files and one for all, for two versions of the kubelet)
 * and over 1,000 files that are in no repository.
 */
export async function measure(): Promise<readonly Measurement[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  try {
    const repo = join(directory, 'repo');
    await writeConfigRepo(repo, 1_000);
    const parser = join(directory, 'parse.mjs');
    await writeFile(parser, PARSE_ONLY);
    // Without their pools these are only files.
    const files = join(directory, 'files');
    spawnSync('cp', ['-r', join(repo, 'pools'), files]);
    spawnSync('find', [files, '-name', 'pool.yaml', '-delete']);
    const cases = [
      { what: '1,000 pools of a repository, for two versions', path: repo, versions: [] },
      { what: '1,000 files, for one version', path: files, versions: ['--kubelet-version', '1.34'] },
    ] as const;
    return cases.flatMap(({ what, path, versions }) => {
      const [ours, parsed]: [Run[], Run[]] = [[], []];
      for (let run = 0; run < RUNS; run += 1) {
        ours.push(runNode([join(ROOT, 'cli/bin.js'), 'validate', path, ...versions, '--fail-on', 'error']));
        parsed.push(runNode([parser, path]));
      }
      const figure = (name: keyof Run) => {
        const subject = ours.map((run) => run[name]);
        const baseline = { what: 'reading and parsing the same files', values: parsed.map((run) => run[name]) };
        return { unit: 'ms', subject, baseline };
      };
      const cpu = figure('cpuMs');
      // Elsewhere work is done as well: the time that passed says more about that than about the command.
      const promise = { text: `at most ${BOUND_MS} ms on a free processor`, kept: median(cpu.subject) <= BOUND_MS };
      return [
        { what: `validate: ${what}: CPU`, ...cpu, promise },
        { what: 'the same: time that passed', ...figure('wallMs') },
      ];
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Run {
  readonly wallMs: number;
  /** User and system, of all that was started. */
  readonly cpuMs: number;
}

/** @throws where the program finds something wrong with what is right */
function runNode(argv: readonly string[]): Run {
  const begun = performance.now();
  const script = '"$@" >&2 || exit; times';
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...argv], {
    encoding: 'utf8',
  });
  const wallMs = performance.now() - begun;
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr.slice(0, 500)}`);
  // The last line of `times` is what the children used: user and system, as 0m0.012s.
  const children = stdout.trim().split('\n').at(-1) ?? '';
  const cpuMs = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, m, s]) => sum + Number(m) * 60_000 + Number(s) * 1000,
    0,
  );
  return { wallMs, cpuMs };
}
