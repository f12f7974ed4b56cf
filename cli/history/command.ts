import type { Follows } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { pictureTable } from '#reconciler/policy/following/cluster-picture.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import { readCluster } from '#reconciler/policy/config-repo/read-cluster.ts';
import { decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { TIMEOUT_OPTION, timeoutOf, wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { watchNewItems } from '../watch-new-items.ts';
import { columnsOf as widthOf, wrapFor } from '../wrap.ts';
import { clustersAsText } from '../clusters-text.ts';
import { joinLines } from '../one-line.ts';
import { type LocalRepository, openRepository } from '../revision/local-repository.ts';
import { readRevision } from '../revision/read-revision.ts';
import { asMarkdown, type ClusterColumn, notedPicture } from './noted-picture.ts';
import { notesSince } from './note-since.ts';
import { fetchWithNotes } from './fetch-notes.ts';
import { type HistoryEntry, NOTES_PREFIX, readCommitHistory } from './read-history.ts';
import { historyAsText, NOTHING_NOTED } from './render.ts';

const FORMATS = ['text', 'json', 'markdown'] as const;
const DEFAULT_COUNT = 20;
/** Each look is a fetch. Notes follow the cluster by some seconds, and a git server has others to serve. */
const FETCH_EVERY_MS: Millis = 15_000;

export const HISTORY: Command = {
  name: 'history',
  summary: 'shows what became of the last commits, from the notes in a clone',
  mostWords: 0,
  about: [
    "Reads the reconcilers' notes in a checkout and asks no cluster. --fetch fetches them first, also in a fresh clone;\n" +
      'without it you see what was last fetched.',
    '--clusters is a table of commits and clusters: what each says and for how long, and of a cluster that follows others, when\n' +
      'its turn comes, about.',
  ],
  options: {
    repo: { type: 'string', value: 'DIRECTORY', about: 'a checkout of the config repository (default .)' },
    revision: {
      type: 'string',
      value: 'REV',
      about: 'where to begin (default HEAD; with --fetch the upstream of its branch)',
    },
    fetch: { type: 'boolean', about: 'first run git fetch, for the notes, too' },
    watch: {
      type: 'boolean',
      short: 'w',
      about: 'keep running, fetch every 15s, and print what changes, until Ctrl-C or --timeout',
    },
    timeout: TIMEOUT_OPTION,
    clusters: { type: 'boolean', about: 'a column for each cluster; with --output markdown for a pull request' },
    path: {
      type: 'string',
      value: 'FOLDER',
      about: 'with --clusters: the folder that holds clusters/ (default: the root)',
    },
    cluster: { type: 'string', value: 'NAME', about: 'only this cluster; default: every one that has notes' },
    count: { type: 'string', short: 'n', value: 'N', about: `how many commits with notes (default ${DEFAULT_COUNT})` },
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: [
    'kubelet-gitops history --fetch',
    'kubelet-gitops history --watch --cluster prod',
    'kubelet-gitops history --fetch --clusters',
    'kubelet-gitops history --revision origin/main --cluster prod -n 5',
  ],
  run: (given, io) => runHistory(given, io, systemClock),
};

/** @param clock for tests */
export async function runHistory(given: Given, io: Io, clock: Clock): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const count = countOf(given.text('count'));
  const isWatch = given.flag('watch');
  if (isWatch && format !== 'text') throw new UsageError('--watch is for people: take --output text');
  if (given.flag('clusters')) {
    if (isWatch || format === 'json') throw new UsageError('--clusters is one table: take --output text or markdown');
    const read = await readHere(given, io, count, given.flag('fetch'));
    const picture = notedPicture(read.entries, await columnsOf(read, given.text('path') ?? ''));
    const now = clock.now();
    const isEmpty = picture.rows.length === 0;
    if (isEmpty) io.out.write(`${NOTHING_NOTED}\n`);
    else if (format === 'markdown') io.out.write(asMarkdown(pictureTable(picture, now)));
    else io.out.write(wrapFor(io.out)(`${joinLines(clustersAsText(picture, now, widthOf(io.out)))}\n`));
    return 0;
  }
  if (format === 'markdown') throw new UsageError('--output markdown is of --clusters');
  const timeoutMs = timeoutOf(given, isWatch);
  const look = (): Promise<readonly HistoryEntry[]> => readNow(given, io, count, isWatch || given.flag('fetch'));
  const show = (entries: readonly HistoryEntry[], isMore: boolean): void => {
    const text = historyAsText(entries, paintFor(io.out, io.env), widthOf(io.out), isMore);
    io.out.write(wrapFor(io.out)(text));
  };

  const entries = await look();
  if (format === 'json') io.out.write(`${JSON.stringify({ commits: entries }, null, 2)}\n`);
  else show(entries, false);
  if (isWatch) {
    const identity = ({ commit, cluster, note }: HistoryEntry): string => JSON.stringify([commit, cluster, note]);
    const oldestFirst = (more: readonly HistoryEntry[]): void => show(more.toReversed(), true);
    const isPassing = (error: unknown): boolean => codeOf(error) === 'FETCH_FAILED';
    await watchNewItems(
      entries,
      { look, identity, show: oldestFirst, everyMs: FETCH_EVERY_MS, timeoutMs, isPassing },
      clock,
    );
  }
  return 0;
}

interface Read {
  readonly repository: LocalRepository;
  /** By cluster, the commit of its notes. */
  readonly notes: ReadonlyMap<string, string>;
  readonly entries: readonly HistoryEntry[];
}

const readNow = async (...question: Parameters<typeof readHere>): Promise<readonly HistoryEntry[]> =>
  (await readHere(...question)).entries;

async function readHere(given: Given, io: Io, count: number, fetches: boolean): Promise<Read> {
  const directory = given.text('repo') ?? '.';
  const fetched = fetches ? await fetchWithNotes(await openRepository(directory), io.env) : 'HEAD';
  // Opened again: what was fetched is in new packs.
  const repository = await openRepository(directory);
  const all = await repository.refs(NOTES_PREFIX);
  const wanted = given.text('cluster');
  const notes = new Map([...all].filter(([cluster]) => wanted === undefined || cluster === wanted));
  if (notes.size === 0) throw noNotes(wanted, [...all.keys()], fetches);
  const entries = await readCommitHistory(repository, given.text('revision') ?? fetched, notes, count);
  const lack = entries.length === 0 ? await repository.shallowness() : undefined;
  if (lack !== undefined) io.err.write(`${lack}\n`);
  return { repository, notes, entries };
}

async function columnsOf({ repository, notes, entries }: Read, folder: string): Promise<readonly ClusterColumn[]> {
  const commits = [...new Set(entries.map(({ commit }) => commit))];
  const columns: ClusterColumn[] = [];
  for (const [cluster, tip] of notes) {
    const own = entries.find((entry) => entry.cluster === cluster && entry.note.outcome !== 'refused');
    const follows = own === undefined ? null : await followedBy(repository, own.commit, cluster, folder);
    columns.push({ cluster, since: await notesSince(repository, tip, commits), follows });
  }
  return columns;
}

/** Whom a cluster follows, by the newest commit that it says was in force. */
async function followedBy(
  repository: LocalRepository,
  commit: string,
  cluster: string,
  folder: string,
): Promise<Follows | null> {
  const { files } = await readRevision(repository, commit, folder);
  const file = files.get(`clusters/${cluster}.yaml`);
  if (file === undefined) return null;
  const { value, positionOf } = decodeYaml(file.bytes, file.path);
  return readCluster(value, cluster, fileReport(file.path, positionOf)).follows;
}

function countOf(text: string = String(DEFAULT_COUNT)): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError(`--count ${text}: write a number from 1 to 9999`);
  return Number(text);
}

function noNotes(wanted: string | undefined, clusters: readonly string[], fetched: boolean): GitopsError {
  const message =
    clusters.length > 0
      ? `there are no notes of ${wanted}: this clone has those of ${clusters.join(', ')}`
      : fetched
        ? 'the remote has no notes yet: they come with the first commit that a reconciler with a pushing credential takes up'
        : 'there are no notes in this clone: use --fetch, or run sh scripts/show-notes.sh of the config repository in it once';
  return new GitopsError('NO_NOTES', message);
}
