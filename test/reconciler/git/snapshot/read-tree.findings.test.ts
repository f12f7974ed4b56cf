import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import type { Snapshot } from '#reconciler/policy/commit-snapshot.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import type { RawEntry, RawRepository } from '../support/repository.ts';
import { soon, start } from '../support/start.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';

/** The snapshot of a commit whose `pools/` holds these entries. */
async function poolsOf(
  t: TestContext,
  entries: (repository: RawRepository) => Promise<readonly RawEntry[]>,
): Promise<Snapshot> {
  const { repository, source } = await start(t);
  const pools = await repository.tree(await entries(repository));
  const tree = await repository.tree([['40000', 'pools', pools]]);
  await repository.setRef('refs/heads/main', await repository.commit({ tree }));
  return source().snapshot(null, soon());
}

const said = ({ findings }: Snapshot): readonly string[] =>
  findings.map(({ code, severity, file }) => `${severity} ${code} ${file}`);

const read = ({ files }: Snapshot): readonly string[] => [...files.keys()];

describeOrSkip('what a snapshot leaves out, and says so', { skip: WITHOUT_GIT }, () => {
  it('symbolic links, submodules, files of Git LFS and modes of old', async (t) => {
    const snapshot = await poolsOf(t, async ({ blob }) => [
      ['100644', 'a.yaml', await blob('a: 1\n')],
      ['100755', 'b.yaml', await blob('b: 1\n')],
      ['100664', 'c.yaml', await blob('c: 1\n')],
      ['120000', 'link', await blob('../../../../etc/shadow')],
      ['100644', 'pointer.yaml', await blob('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n')],
      ['160000', 'vendored', '1'.repeat(40)],
    ]);
    assert.deepEqual(read(snapshot), ['pools/a.yaml', 'pools/b.yaml']);
    assert.deepEqual(said(snapshot), [
      'error odd-mode pools/c.yaml',
      'error symlink pools/link',
      'error lfs-pointer pools/pointer.yaml',
      'error submodule pools/vendored',
    ]);
  });

  it('files that are too big, with both sizes', async (t) => {
    const snapshot = await poolsOf(t, async ({ blob }) => [
      ['100644', 'a.yaml', await blob('x'.repeat(256 * 1024))],
      ['100644', 'b.yaml', await blob('x'.repeat(256 * 1024 + 1))],
    ]);
    assert.deepEqual(read(snapshot), ['pools/a.yaml']);
    assert.deepEqual(said(snapshot), ['error file-too-big pools/b.yaml']);
    assert.match(snapshot.findings[0]?.message ?? '', /262145 .* 262144/);
  });

  const hostile: readonly (readonly [what: string, name: string | Buffer, shown: string])[] = [
    ['a line break', 'a\nb', 'a\\u{a}b'],
    ['a mark that turns the direction', 'gpu\u202elmay', 'gpu\\u{202e}lmay'],
    ['an escape sequence', '\u001b[2J', '\\u{1b}[2J'],
    ['an invisible space', 'g\u200bpu', 'g\\u{200b}pu'],
    ['bytes that are no UTF-8', Buffer.from([0x67, 0xff]), 'g\ufffd'],
    ['a backslash', 'a\\b', 'a\\b'],
    ['a colon', 'a:b', 'a:b'],
    ['a name of five thousand characters', 'a'.repeat(5000), 'a'.repeat(100)],
    ['the parent directory', '..', '..'],
    ['git’s own directory', '.GIT', '.GIT'],
    ['git’s own directory by its short name', 'git~1', 'git~1'],
  ];
  for (const [what, name, shown] of hostile) {
    it(`a name that is ${what}, as file and as directory`, async (t) => {
      const snapshot = await poolsOf(t, async ({ blob, tree }) => {
        const file = await blob('a: 1\n');
        return [
          ['100644', name, file],
          [
            '40000',
            Buffer.concat([Buffer.from('0'), Buffer.from(name as Uint8Array)]).subarray(0, 300),
            await tree([]),
          ],
          ['100644', 'fine.yaml', file],
        ];
      });
      assert.deepEqual(read(snapshot), ['pools/fine.yaml']);
      assert.equal(said(snapshot)[0], `error hostile-name pools/${shown}`);
    });
  }

  it('both of two entries with the same name', async (t) => {
    const snapshot = await poolsOf(t, async ({ blob, tree }) => [
      ['100644', 'a.yaml', await blob('a: 1\n')],
      ['100644', 'a.yaml', await blob('a: 2\n')],
      ['40000', 'gpu', await tree([['100644', 'pool.yaml', await blob('b: 1\n')]])],
      ['100644', 'gpu', await blob('c: 1\n')],
      ['100644', 'z.yaml', await blob('d: 1\n')],
    ]);
    assert.deepEqual(read(snapshot), ['pools/z.yaml']);
    assert.deepEqual(said(snapshot), ['error duplicate-name pools/a.yaml', 'error duplicate-name pools/gpu']);
  });

  it('outside of the configuration, only names that look like those of its folders', async (t) => {
    const { repository, source } = await start(t);
    const { blob, tree, commit, setRef } = repository;
    const file = await blob('a: 1\n');
    const root = await tree([
      ['120000', 'docs', file],
      ['40000', 'do\u200bcs', await tree([['100644', 'pool.yaml', file]])],
      ['40000', 'pools\u200b', await tree([['100644', 'pool.yaml', file]])],
      ['160000', 'vendor', '1'.repeat(40)],
    ]);
    await setRef('refs/heads/main', await commit({ tree: root }));
    const snapshot = await source().snapshot(null, soon());
    assert.deepEqual(said(snapshot), ['warning hostile-name pools\\u{200b}/']);
    assert.equal(snapshot.files.size, 0);
  });

  it('a directory of configuration that is a link itself', async (t) => {
    const { repository, source } = await start(t);
    const { blob, tree, commit, setRef } = repository;
    await setRef('refs/heads/main', await commit({ tree: await tree([['120000', 'pools', await blob('elsewhere')]]) }));
    assert.deepEqual(said(await source().snapshot(null, soon())), ['error symlink pools']);
  });
});
