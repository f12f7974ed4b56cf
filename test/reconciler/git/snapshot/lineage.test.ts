import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { it } from 'node:test';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { soon, start, type Started } from '../support/start.ts';
import { itOverHttp } from '../support/transport.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';

const change = (n: number) => ({ 'base/a.yaml': `a: ${n}\n` });

async function lineageOf(
  { server, source }: Started,
  since: string | null,
): Promise<{ lineage: string; requests: number }> {
  const before = server.requests.length;
  const { lineage } = await source().snapshot(since, soon());
  return { lineage, requests: server.requests.length - before };
}

describeOrSkip('how a commit relates to the one in force', { skip: WITHOUT_GIT }, () => {
  itOverHttp('is the first, the same, or a child, which costs no further request', async (t) => {
    const started = await start(t);
    const first = await started.repository.commitFiles(change(1));
    const second = await started.repository.commitFiles(change(2));
    assert.deepEqual(await lineageOf(started, null), { lineage: 'first', requests: 3 });
    assert.deepEqual(await lineageOf(started, second), { lineage: 'same', requests: 3 });
    assert.deepEqual(await lineageOf(started, first), { lineage: 'descendant', requests: 3 });
  });

  itOverHttp('is a descendant, however many commits lie between', async (t) => {
    const started = await start(t);
    const { repository } = started;
    const first = await repository.commitFiles(change(0));
    for (let n = 1; n <= 80; n += 1) await repository.commitFiles(change(n));
    assert.deepEqual(await lineageOf(started, first), { lineage: 'descendant', requests: 4 });
  });

  it('is a descendant by either side of a merge', async (t) => {
    const started = await start(t);
    const { repository } = started;
    const root = await repository.commitFiles(change(0));
    const tree = await started.server.git('rev-parse', `${root}^{tree}`);
    const left = await repository.commit({ tree, parents: [root], message: 'left' });
    const right = await repository.commit({ tree, parents: [root], message: 'right' });
    const merge = await repository.commit({ tree, parents: [left, right] });
    await repository.setRef('refs/heads/main', await repository.commit({ tree, parents: [merge] }));
    for (const since of [root, left, right, merge])
      assert.equal((await lineageOf(started, since)).lineage, 'descendant');
  });

  it('is rewritten when the branch was forced back', async (t) => {
    const started = await start(t);
    const { repository } = started;
    const first = await repository.commitFiles(change(1));
    const second = await repository.commitFiles(change(2));
    const third = await repository.commitFiles(change(3));
    await repository.setRef('refs/heads/main', second);
    assert.equal((await lineageOf(started, third)).lineage, 'rewritten');
    await repository.setRef('refs/heads/main', first);
    assert.equal((await lineageOf(started, third)).lineage, 'rewritten');
  });

  it('is rewritten when the last commit was amended', async (t) => {
    const started = await start(t);
    const { repository } = started;
    const first = await repository.commitFiles(change(1));
    const second = await repository.commitFiles(change(2));
    await repository.setRef('refs/heads/main', first);
    await repository.commitFiles(change(3));
    assert.equal((await lineageOf(started, second)).lineage, 'rewritten');
  });

  it('is rewritten when the branch starts again from an unrelated root', async (t) => {
    const started = await start(t);
    const { repository } = started;
    const old = await repository.commitFiles(change(1));
    const root = await repository.commitFiles(change(2), { parents: [] });
    assert.equal((await lineageOf(started, old)).lineage, 'rewritten');
    await repository.commitFiles(change(3));
    assert.equal((await lineageOf(started, old)).lineage, 'rewritten');
    assert.equal((await lineageOf(started, root)).lineage, 'descendant');
  });

  it('is rewritten when the server no longer knows the old one, and nothing is downloaded to find out', async (t) => {
    const started = await start(t);
    const { repository, source } = started;
    for (let n = 0; n < 20; n += 1) await repository.commitFiles({ 'base/a.yaml': randomBytes(40_000) });
    // Room for the first words of the answer, not for the history of 800 kB that follows them.
    const { lineage, findings } = await source({ limits: { packBytes: 100_000 } }).snapshot('d'.repeat(40), soon());
    assert.equal(lineage, 'rewritten');
    assert.deepEqual(findings, []);
  });

  it('is taken for rewritten, and that is said, when too much lies between', async (t) => {
    const { server, repository, source } = await start(t);
    const first = await repository.commitFiles(change(0));
    for (let n = 1; n <= 30; n += 1) await repository.commitFiles(change(n));
    const told = await source({ limits: { objects: 50 } }).snapshot(first, soon());
    assert.deepEqual([told.lineage, told.findings], ['descendant', []], 'commits alone are few');
    await server.git('config', 'uploadpack.allowFilter', 'false');
    const { lineage, findings } = await source({ limits: { objects: 50 } }).snapshot(first, soon());
    assert.equal(lineage, 'rewritten');
    assert.deepEqual(
      findings.map(({ code, severity }) => `${severity} ${code}`),
      ['warning lineage-unknown'],
    );
  });

  it('is told although a file that came and went in between was too big to be read', async (t) => {
    const { server, repository, source } = await start(t);
    const first = await repository.commitFiles(change(0));
    await repository.commitFiles({ 'docs/film.mp4': Buffer.alloc(2 * 1024 * 1024, 'x') });
    await repository.commitFiles(change(2));
    for (const value of ['true', 'false']) {
      await server.git('config', 'uploadpack.allowFilter', value);
      assert.equal((await source().snapshot(first, soon())).lineage, 'descendant', `allowFilter=${value}`);
    }
    await server.git('config', 'uploadpack.allowFilter', 'true');
    await server.git('config', 'uploadpackfilter.tree.allow', 'false');
    assert.equal((await source().snapshot(first, soon())).lineage, 'descendant', 'a filter that is refused');
  });

  it('is told although more came and went in between than is ever read', async (t) => {
    const { repository, source } = await start(t);
    const first = await repository.commitFiles(change(0));
    await repository.commitFiles({ 'docs/film.mp4': randomBytes(200_000) });
    await repository.commitFiles(change(2));
    const { lineage, findings } = await source({ limits: { packBytes: 100_000 } }).snapshot(first, soon());
    assert.deepEqual([lineage, findings], ['descendant', []]);
  });
});
