import { GitopsError } from '#shared/runtime/errors.ts';
import { type Command, type ExitCode, type Given, Mistake } from '../command.ts';
import type { Io } from '../io.ts';
import { wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { columnsOf, wrapFor } from '../wrap.ts';
import { openRepository } from '../revision/local-repository.ts';
import { NOTES_PREFIX, readCommitHistory } from './read-history.ts';
import { historyAsText } from './render.ts';

const FORMATS = ['text', 'json'] as const;
const DEFAULT_COUNT = 20;

export const HISTORY: Command = {
  name: 'history',
  summary: 'shows what became of the last commits, from the notes in a clone',
  mostWords: 0,
  about: [
    "Reads the reconcilers' notes in a checkout and asks no cluster. Fetch first; a clone brings notes along once\n" +
      'scripts/show-notes.sh of the config repository was run in it.',
  ],
  options: {
    repo: { type: 'string', value: 'DIRECTORY', about: 'a checkout of the config repository (default .)' },
    revision: { type: 'string', value: 'REV', about: 'where to begin (default HEAD)' },
    cluster: { type: 'string', value: 'NAME', about: 'only this cluster; default: every one that has notes' },
    count: { type: 'string', short: 'n', value: 'N', about: `how many commits with notes (default ${DEFAULT_COUNT})` },
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: ['kubelet-gitops history', 'kubelet-gitops history --revision origin/main --cluster prod -n 5'],
  run: runHistory,
};

async function runHistory(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const count = countOf(given.text('count'));
  const repository = await openRepository(given.text('repo') ?? '.');
  const all = await repository.refs(NOTES_PREFIX);
  const wanted = given.text('cluster');
  const notes = new Map([...all].filter(([cluster]) => wanted === undefined || cluster === wanted));
  if (notes.size === 0) throw noNotes(wanted, [...all.keys()]);
  const entries = await readCommitHistory(repository, given.text('revision') ?? 'HEAD', notes, count);
  if (format === 'json') io.out.write(`${JSON.stringify({ commits: entries }, null, 2)}\n`);
  else io.out.write(wrapFor(io.out)(historyAsText(entries, paintFor(io.out, io.env), columnsOf(io.out))));
  return 0;
}

function countOf(text: string = String(DEFAULT_COUNT)): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new Mistake(`--count ${text}: write a number from 1 to 9999`);
  return Number(text);
}

function noNotes(wanted: string | undefined, clusters: readonly string[]): GitopsError {
  const message =
    clusters.length > 0
      ? `there are no notes of ${wanted}: this clone has those of ${clusters.join(', ')}`
      : 'there are no notes in this clone: run scripts/show-notes.sh of the config repository in it, and git fetch';
  return new GitopsError('NO_NOTES', message);
}
