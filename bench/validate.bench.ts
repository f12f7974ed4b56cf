import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Measurement, median } from './render-measurements.ts';
import { writeConfigRepo } from './support/config-repo.ts';
import { type TimedRun, timedProgram } from './support/timed-program.ts';

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

/** The whole command, from its start to its end, over 1,000 pools: 2,000 files and one for all, for two versions of the kubelet. */
export async function measure(): Promise<readonly Measurement[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-bench-'));
  try {
    const repo = join(directory, 'repo');
    await writeConfigRepo(repo, 1_000);
    const parser = join(directory, 'parse.mjs');
    await writeFile(parser, PARSE_ONLY);
    const ours: TimedRun[] = [];
    const parsed: TimedRun[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      ours.push(timedProgram(process.execPath, [join(ROOT, 'cli/bin.js'), 'validate', repo, '--fail-on', 'error']));
      parsed.push(timedProgram(process.execPath, [parser, repo]));
    }
    const subject = ours.map(({ cpuMs }) => cpuMs);
    return [
      {
        what: 'validate: 1,000 pools of a repository, for two versions: CPU',
        unit: 'ms',
        subject,
        baseline: { what: 'reading and parsing the same files', values: parsed.map(({ cpuMs }) => cpuMs) },
        // Elsewhere work is done as well: the time that passed says more about that than about the command.
        promise: { text: `at most ${BOUND_MS} ms on a free processor`, kept: median(subject) <= BOUND_MS },
      },
      {
        what: 'the same: time that passed',
        unit: 'ms',
        subject: ours.map(({ wallMs }) => wallMs),
        baseline: { what: 'reading and parsing the same files', values: parsed.map(({ wallMs }) => wallMs) },
      },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
