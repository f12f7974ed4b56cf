import { formatFinding } from '#shared/contract/finding.ts';
import { loadRepo } from '#reconciler/repo/load-repo.ts';
import { NEWEST_MINOR, minorName } from '#shared/contract/kubelet-config/minor.ts';
import { type Command, type ExitCode, type Given, Mistake } from '../command.ts';
import type { Io } from '../io.ts';
import { kubeletVersions, VERSION_OPTION, wordOf } from '../options.ts';
import { type Paint, paintFor } from '../paint.ts';
import { wrapFor } from '../wrap.ts';
import { readDirectory } from '../validate/read-directory.ts';
import { foresee, type Foresight } from './foresee.ts';

const FORMATS = ['text', 'json'] as const;

export const FORESIGHT: Command = {
  name: 'foresight',
  summary: 'shows what newer kubelets will refuse, drop, or do otherwise by default',
  takes: '[DIRECTORY]',
  mostWords: 1,
  about: [
    'Judges every pool of a config repository step by step from the newest version in use (in clusters/, or given) to the\n' +
      'newest that is known. To be read before the nodes are upgraded.',
  ],
  options: {
    ...VERSION_OPTION,
    cluster: {
      type: 'string',
      value: 'NAME',
      about: 'whose clusters/NAME.yaml counts (needed where there are several)',
    },
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: ['kubelet-gitops foresight .', 'kubelet-gitops foresight . --kubelet-version 1.31 -o json'],
  run: runForesight,
};

async function runForesight(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const [directory = '.'] = given.words;
  const { files, findings } = await readDirectory(directory);
  const clusters = [...files.keys()].flatMap((path) => /^clusters\/([^/]+)\.yaml$/.exec(path)?.[1] ?? []);
  const cluster = given.text('cluster') ?? clusters[0] ?? 'default';
  if (given.text('cluster') === undefined && clusters.length > 1) {
    throw new Mistake(`choose a cluster with --cluster: ${clusters.join(', ')}`);
  }
  const repo = loadRepo(files, { cluster, gitFindings: findings });
  const asked = kubeletVersions(given);
  const present = asked.length > 0 ? asked : repo.cluster.kubeletVersions;
  if (present.length === 0) {
    throw new Mistake('which versions are in use? Name them with --kubelet-version, or in clusters/NAME.yaml');
  }
  const steps = repo.pools.flatMap((pool) => (pool.status === 'valid' ? foresee(pool, present) : []));
  io.out.write(
    format === 'json'
      ? `${JSON.stringify({ steps }, null, 2)}\n`
      : wrapFor(io.out)(asText(steps, paintFor(io.out, io.env))),
  );
  return steps.length === 0 ? 0 : 1;
}

function asText(steps: readonly Foresight[], paint: Paint): string {
  if (steps.length === 0) return `Nothing up to ${minorName(NEWEST_MINOR)}, the newest version that is known here.\n`;
  const blocks = steps.map(({ pool, from, to, findings, defaults }) =>
    [
      paint('strong', `Pool ${pool}, kubelet ${from} → ${to}`),
      ...findings.map((finding) => paint(finding.severity === 'error' ? 'bad' : 'busy', `  ${formatFinding(finding)}`)),
      ...defaults.map(
        ({ field, before, after }) => `  ${field} is not set, and its default changes: ${before} → ${after}`,
      ),
    ].join('\n'),
  );
  return `${blocks.join('\n\n')}\n`;
}
