import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { after, before, describe, it } from 'node:test';
import git, { type TreeEntry } from 'isomorphic-git';
import type { HistoryEntry } from '#cli/history/read-history.ts';
import { historyAsText } from '#cli/history/render.ts';
import { plain } from '#cli/paint.ts';
import type { NoteContent } from '#reconciler/git/notes/annotator.ts';
import { storedNote } from '#reconciler/git/notes/stored-note.ts';
import { type CommitNote, noteRefused, type NotedPool } from '#reconciler/reporting/notes/commit-note.ts';
import { noteContent } from '#reconciler/reporting/notes/note-content.ts';
import { createRepository, type TestRepository } from '../support/repository.ts';
import { run } from '../support/run.ts';
import { columns } from '../../support/columns.ts';

const counts = { nodes: 6, updated: 2, updating: 0, pending: 3, failed: 1, noAgent: 0, drifted: 0 };
const general: NotedPool = {
  name: 'general',
  origin: 'rendered',
  config: 'general-7k2mh5gf8d',
  phase: 'Halted',
  suspended: false,
  waves: [],
  halt: null,
  released: null,
  emergency: 'CVE-2026-1234',
  counts,
  failures: [],
  findings: [],
};
type Noted = string | NoteContent;

const BOT = { name: 'bot', email: 'bot@example.org', timestamp: 1_750_000_000, timezoneOffset: 0 };

describe('kubelet-gitops history', () => {
  let repository: TestRepository;
  let commits: readonly string[];

  /**
   * As the reconciler writes them, flat or in folders of two digits: a text alone, or with what is for programs beside it, which
   * lies in a folder whatever git does with the note.
   */
  async function writeNotes(cluster: string, notes: Readonly<Record<string, Noted>>, folders: boolean): Promise<void> {
    const repo = { fs, dir: repository.directory };
    const file = async (path: string, text: string): Promise<TreeEntry> => {
      const oid = await git.writeBlob({ ...repo, blob: storedNote(text) });
      return { mode: '100644', path, oid, type: 'blob' };
    };
    const entries: TreeEntry[] = [];
    for (const [commit, noted] of Object.entries(notes)) {
      const { text, data }: NoteContent = typeof noted === 'string' ? { text: noted } : noted;
      const inside = folders ? [await file(commit.slice(2), text)] : [];
      if (!folders) entries.push(await file(commit, text));
      if (data !== undefined) inside.push(await file(`${commit.slice(2)}.json`, data));
      const oid = await git.writeTree({ ...repo, tree: inside });
      if (inside.length > 0) entries.push({ mode: '040000', path: commit.slice(0, 2), oid, type: 'tree' });
    }
    const tree = await git.writeTree({ ...repo, tree: entries });
    const commit = { message: 'Notes', tree, parent: [], author: BOT, committer: BOT };
    const value = await git.writeCommit({ ...repo, commit });
    await git.writeRef({ ...repo, ref: `refs/notes/kubelet-gitops/${cluster}`, value });
  }

  before(async () => {
    repository = await createRepository();
    const made: string[] = [];
    for (const [index, message] of ['Start', 'Not noted', 'Raise maxPods', 'Go too far'].entries()) {
      made.push(await repository.commit(message, { 'a.txt': `${index}\n` }));
    }
    commits = made;
  });
  after(() => repository.remove());

  const history = (...argv: readonly string[]) => run('history', '--repo', repository.directory, ...argv);

  it('says what to do where a clone has no notes', async () => {
    const ran = await history();
    assert.equal(ran.code, 2);
    assert.match(ran.err, /there are no notes in this clone: use --fetch, or run sh scripts\/show-notes\.sh/);
  });

  it('shows what became of each commit, newest first, with why', async () => {
    const [start = '', , raised = '', far = ''] = commits;
    const note: CommitNote = {
      cluster: 'prod',
      commit: raised,
      outcome: 'halted',
      message: '',
      limits: null,
      pools: [general],
      findings: [],
    };
    const refused = noteContent(noteRefused('prod', far, 'it would give too many nodes another config'));
    const settled = noteContent({ ...note, commit: start, outcome: 'settled', pools: [] });
    await writeNotes('prod', { [far]: refused, [raised]: noteContent(note), [start]: settled }, true);
    const { code, out } = await history();
    assert.equal(code, 0);
    assert.deepEqual(out.trimEnd().split('\n'), [
      'COMMIT        AUTHORED          CLUSTER  OUTCOME  UPDATED      SUBJECT',
      `${far.slice(0, 12)}  2025-06-15 19:06  prod     refused               Go too far (Ada)`,
      '  it would give too many nodes another config',
      `${raised.slice(0, 12)}  2025-06-15 18:06  prod     halted   general 2/6  Raise maxPods (Ada)`,
      '  emergency, windows did not count: general: CVE-2026-1234',
      `${start.slice(0, 12)}  2025-06-15 16:06  prod     settled               Start (Ada)`,
    ]);
  });

  it('fits a terminal: what has no room on the line stands below it', () => {
    const entry = (pools: readonly string[]): HistoryEntry => ({
      commit: 'a'.repeat(40),
      at: '2026-11-21T15:04:05Z',
      author: 'Ada Admin',
      subject: 'Start from the template',
      cluster: 'demo',
      note: { outcome: 'settled', message: '', pools },
    });
    const entries = [entry(['control-plane 1/1', 'general 3/3', 'gpu 2/2']), entry([])];
    assert.match(historyAsText(entries, plain, 140), /control-plane 1\/1, general 3\/3, gpu 2\/2 {2}Start/);
    assert.deepEqual(historyAsText(entries, plain, 80).trimEnd().split('\n'), [
      'COMMIT        AUTHORED          CLUSTER  OUTCOME  SUBJECT',
      'aaaaaaaaaaaa  2026-11-21 15:04  demo     settled  Start from the template',
      '  by Ada Admin: control-plane 1/1, general 3/3, gpu 2/2',
      'aaaaaaaaaaaa  2026-11-21 15:04  demo     settled  Start from the template',
      '  by Ada Admin',
    ]);
  });

  it('shows as many commits as asked for, of one cluster or of all', async () => {
    const [, , raised = ''] = commits;
    const pools = [{ ...general, emergency: null }];
    const long: CommitNote = {
      cluster: 'test',
      commit: raised,
      outcome: 'halted',
      message: 'why',
      limits: null,
      pools,
      findings: [],
    };
    const { text, data } = noteContent({ ...long, findings: ['x'] });
    const cut = { text, data: data.trimEnd().slice(0, -9) };
    await writeNotes('test', { [raised]: cut, [commits[1] ?? '']: 'by hand' }, false);
    const { commits: shown } = JSON.parse((await history('--revision', 'HEAD~1', '-n', '1', '-o', 'json')).out) as {
      readonly commits: readonly { readonly cluster: string; readonly note: object }[];
    };
    assert.deepEqual(columns(shown, 'cluster', 'note'), [
      ['prod', { outcome: 'halted', message: '', pools: ['general 2/6'], emergencies: ['general: CVE-2026-1234'] }],
      ['test', { outcome: 'halted', message: 'why' }],
    ]);
    assert.equal((await history('--cluster', 'test')).out.trimEnd().split('\n').length, 3);
    assert.match((await history('--cluster', 'other')).err, /no notes of other: this clone has those of prod, test/);
    assert.match((await history('-n', '0')).err, /write a number from 1 to 9999/);
  });

  it('goes by what is for programs, as clusters that follow do, and by no word without end', async () => {
    const [start = '', raised = ''] = commits;
    const note = { commit: start, message: '', limits: null, pools: [], findings: [], cluster: 'told' } as const;
    const { data } = noteContent({ ...note, outcome: 'halted' });
    const lied = { text: 'told: settled\n', data };
    await writeNotes('told', { [start]: lied, [raised]: `told: ${'a'.repeat(65)}\n` }, true);
    const { commits: shown } = JSON.parse((await history('--cluster', 'told', '-o', 'json')).out) as {
      readonly commits: readonly { readonly note: { readonly outcome: string } }[];
    };
    assert.deepEqual(
      shown.map((each) => each.note.outcome),
      ['halted'],
    );
  });

  it('finds what is for programs where git moved the note to another folder', async () => {
    const [start = ''] = commits;
    const note = { cluster: 'moved', commit: start, outcome: 'settled', message: '', limits: null } as const;
    const well = noteContent({
      ...note,
      pools: [{ ...general, counts: { ...counts, updated: 6, failed: 0 } }],
      findings: [],
    });
    await writeNotes('moved', { [start]: well }, false);
    assert.deepEqual(await poolsOf('moved'), [['general 6/6']]);
  });

  const poolsOf = async (cluster: string): Promise<unknown> => {
    const { commits: shown } = JSON.parse((await history('--cluster', cluster, '-o', 'json')).out) as {
      readonly commits: readonly { readonly note: { readonly pools?: readonly string[] } }[];
    };
    return shown.map(({ note }) => note.pools);
  };
});
