import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { it } from 'node:test';
import git from 'isomorphic-git';
import { asMarkdown, notedPicture } from '#cli/history/noted-picture.ts';
import { pictureTable } from '#reconciler/policy/following/cluster-picture.ts';
import type { HistoryEntry } from '#cli/history/read-history.ts';
import { NOW } from '../../support/fleet.ts';
import { createRepository } from '../support/repository.ts';
import { run } from '../support/run.ts';

const HOUR = 3_600_000;
const ago = (hours: number): string => new Date(NOW - hours * HOUR).toISOString();
const oid = (letter: string): string => letter.repeat(40);
const entry = (letter: string, cluster: string, outcome: string): HistoryEntry => ({
  commit: oid(letter),
  at: ago(9),
  author: 'Ada',
  subject: `Change ${letter} | @all`,
  cluster,
  note: { outcome, message: '' },
});
const follows = { clusters: ['staging'], settledFor: '24h' };

it('a cluster that follows waits, is due in so long, or has it; what it passed by is not due', () => {
  const entries = [
    entry('d', 'staging', 'progressing'),
    entry('c', 'staging', 'settled'),
    entry('b', 'staging', 'settled'),
    entry('b', 'production', 'settled'),
    entry('a', 'staging', 'settled'),
  ];
  const staging = new Map([
    [oid('d'), ago(1)],
    [oid('c'), ago(3)],
    [oid('a'), ago(90)],
  ]);
  const columns = [
    { cluster: 'staging', since: staging, follows: null },
    { cluster: 'production', since: new Map([[oid('b'), ago(0.1)]]), follows },
  ];
  const table = pictureTable(notedPicture(entries, columns), NOW);
  assert.deepEqual(
    table.map((row) => row.slice(1, 3)),
    [
      ['STAGING', 'PRODUCTION'],
      ['progressing 1h', 'waits'],
      ['settled 3h', 'in 21h'],
      ['settled', 'settled 6m'],
      ['settled 90h', ''],
    ],
  );
  assert.doesNotMatch(asMarkdown(table), /[^\\]\| @all/, 'a subject makes no column');
});

it('reads a clone: what notes say, since when, and whom a cluster follows', async () => {
  const repository = await createRepository();
  try {
    const file =
      'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {follows: {clusters: [staging], settledFor: 48h}}\n';
    const first = await repository.commit('Begin', { 'clusters/production.yaml': file });
    const second = await repository.commit('Go on', { 'clusters/production.yaml': file, 'a.txt': '1' });
    const repo = { fs, dir: repository.directory };
    let parent: string[] = [];
    const push = async (
      cluster: string,
      outcomes: Readonly<Record<string, string>>,
      hoursAgo: number,
    ): Promise<void> => {
      const tree = [];
      for (const [commit, outcome] of Object.entries(outcomes)) {
        const inside = [];
        for (const [name, text] of [
          [commit.slice(2), `${cluster}: ${outcome}\n`],
          [`${commit.slice(2)}.json`, outcome],
        ] as const)
          inside.push({
            mode: '100644',
            path: name,
            oid: await git.writeBlob({ ...repo, blob: Buffer.from(text) }),
            type: 'blob' as const,
          });
        tree.push({
          mode: '040000',
          path: commit.slice(0, 2),
          oid: await git.writeTree({ ...repo, tree: inside }),
          type: 'tree' as const,
        });
      }
      const by = {
        name: 'bot',
        email: 'bot@example.org',
        timestamp: Math.floor(Date.now() / 1000 - hoursAgo * 3_600 - 60),
        timezoneOffset: 0,
      };
      const commit = {
        message: 'Notes',
        tree: await git.writeTree({ ...repo, tree }),
        parent,
        author: by,
        committer: by,
      };
      const value = await git.writeCommit({ ...repo, commit });
      parent = [value];
      await git.writeRef({ ...repo, ref: `refs/notes/kubelet-gitops/${cluster}`, value, force: true });
    };
    await push('staging', { [first]: 'settled', [second]: 'progressing' }, 9);
    await push('staging', { [first]: 'settled', [second]: 'settled' }, 3);
    parent = [];
    await push('production', { [first]: 'settled' }, 5);
    const { code, out } = await run('history', '--repo', repository.directory, '--clusters');
    assert.equal(code, 0);
    assert.deepEqual(
      out
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/).slice(1)),
      [
        ['PRODUCTION', 'STAGING', 'SUBJECT'],
        ['in 44h', 'settled 3h', 'Go on'],
        ['settled 5h', 'settled 9h', 'Begin'],
      ],
    );
    const markdown = await run('history', '--repo', repository.directory, '--clusters', '--output', 'markdown');
    assert.match(markdown.out, /^\| COMMIT \| PRODUCTION \| STAGING \| SUBJECT \|\n\| --- \|/);
    assert.equal((await run('history', '--repo', repository.directory, '--output', 'markdown')).code, 2);
  } finally {
    await repository.remove();
  }
});
