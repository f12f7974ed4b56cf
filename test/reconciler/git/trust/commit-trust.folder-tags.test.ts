import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { createBranch } from '#reconciler/branch.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { createGitSource } from '#reconciler/git/git-source.ts';
import { connectTrust } from '#reconciler/git/trust/connect-trust.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { PATIENT, soon } from '../support/start.ts';
import { serveSigned } from './served.ts';
import { WITHOUT_GIT, WITHOUT_SSH } from './signing.ts';

const POOL = 'infra/kubelet/pools/a/kubelet.yaml';
const ELSEWHERE = 'app/main.go';
const MISSING =
  /^is missing: no signed tag kubelet\/… points at it, or at a later commit that leaves the folder as it is$/;

/** A monorepo whose folder `infra/kubelet` comes into force by signed tags. */
async function scene(t: TestContext, partialClones = true) {
  const served = await serveSigned(t, partialClones);
  const { people, server, save, push } = served;
  const [ada, stranger] = [
    await people.sshKey('ada', '-t', 'ed25519'),
    await people.sshKey('stranger', '-t', 'ed25519'),
  ];
  const trustedKeysDir = await served.keysOf('ada', ada);
  const from = { url: server.url, credentials: fileCredentials(undefined), limits: PATIENT, clock: systemClock };
  const connect = () =>
    connectTrust(
      { signedCommits: 'on', trustedKeysDir, signatureOn: 'tag', signedTags: 'kubelet/', gitPath: 'infra/kubelet' },
      from,
      { clock: systemClock, log: silentLog },
    );
  const trust = connect();
  const source = () => createGitSource({ ...from, branch: 'main', path: 'infra/kubelet' });
  return {
    ...served,
    ada,
    stranger,
    folder: (value: number) => save({ [POOL]: `maxPods: ${value}\n` }),
    work: (value: number) => save({ [ELSEWHERE]: `package main // ${value}\n` }),
    async tag(name: string, oid: string, key = ada) {
      const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key}`];
      await people.git(...settings, 'tag', '-s', '-f', '-m', 'Reviewed', name, oid);
    },
    async judge(oid: string): Promise<string> {
      await push();
      const verdict = await trust.judge({ oid, raw: await people.raw(oid) }, { since: null, signal: soon() });
      return verdict.verdict === 'untrusted' ? verdict.because : verdict.verdict;
    },
    /** A reconciler that has just begun: which commit it reads, and whether that is trusted. */
    async afterStart(since: string | null) {
      await push();
      const branch = createBranch(source(), systemClock, silentLog, connect());
      await branch.poll(since, soon());
      const { tip, failure } = branch.view();
      assert.equal(failure, null);
      return [tip?.commit.oid, tip?.lineage, tip?.signature.verdict];
    },
  };
}

describeOrSkip('a signed tag in a monorepo', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  it('counts on the commit that changed the folder, and on any later one that leaves it as it is', async (t) => {
    const { folder, work, tag, judge, afterStart } = await scene(t);
    const first = await folder(1);
    assert.match(await judge(first), MISSING);
    await work(1);
    const tip = await work(2);
    await tag('kubelet/1', tip);
    assert.equal(await judge(first), 'trusted');
    // Others go on, and the tag is not at the tip any more.
    await work(3);
    assert.deepEqual(await afterStart(null), [first, 'first', 'trusted']);
    assert.deepEqual(await afterStart(first), [first, 'same', 'trusted']);
    const next = await folder(2);
    assert.match(await judge(next), MISSING);
    assert.deepEqual(await afterStart(first), [next, 'descendant', 'untrusted']);
    await tag('kubelet/2', next);
    assert.deepEqual(await afterStart(first), [next, 'descendant', 'trusted']);
  });

  it('on an older commit says nothing of a folder that somebody puts back to what it was then', async (t) => {
    const { folder, work, tag, judge, afterStart } = await scene(t);
    await folder(1);
    await tag('kubelet/1', await work(1));
    const second = await folder(2);
    await tag('kubelet/2', await work(2));
    const back = await folder(1);
    assert.match(await judge(back), MISSING);
    assert.deepEqual(await afterStart(second), [back, 'descendant', 'untrusted']);
  });

  it('brings nothing old back by a merge whose first parents lead to what was tagged then', async (t) => {
    const { people, server, folder, work, tag, push, afterStart } = await scene(t);
    await folder(1);
    const old = await work(1);
    await tag('kubelet/1', old);
    const inForce = await folder(2);
    await tag('kubelet/2', inForce);
    await push();
    const merge = await people.git('commit-tree', `${old}^{tree}`, '-p', old, '-p', inForce, '-m', 'Merge');
    await push(`${merge}:refs/heads/main`);
    await people.git('reset', '--quiet', '--hard', merge);
    assert.equal(await server.git('rev-parse', 'main'), merge);
    assert.deepEqual(await afterStart(inForce), [merge, 'descendant', 'untrusted']);
  });

  it('does not count where the folder was another in between, or is another at the tag', async (t) => {
    const { folder, tag, judge, work } = await scene(t);
    const first = await folder(1);
    const other = await folder(2);
    const again = await folder(1);
    await tag('kubelet/1', again);
    assert.equal(await judge(again), 'trusted');
    assert.match(await judge(first), MISSING);
    assert.match(await judge(other), MISSING);
    await tag('kubelet/2', await work(1));
    assert.match(await judge(first), MISSING);
  });

  it('does not count where the commit came in by a merge only, or is not behind the tag at all', async (t) => {
    const { people, folder, work, tag, judge } = await scene(t);
    const root = await work(1);
    await people.git('checkout', '--quiet', '-b', 'side', root);
    const theirs = await folder(1);
    await people.git('checkout', '--quiet', '-b', 'beside', root);
    const twin = await folder(1);
    assert.notEqual(twin, theirs);
    await tag('kubelet/1', await work(2));
    assert.equal(await judge(twin), 'trusted');
    assert.match(await judge(theirs), MISSING, 'a twin with the same folder is not behind the tag');
    await people.git('checkout', '--quiet', 'main');
    const merge = await people.commit({ merge: 'side' });
    await tag('kubelet/2', merge);
    assert.equal(await judge(merge), 'trusted');
    assert.match(await judge(theirs), MISSING);
  });

  it('of a stranger, without a signature, of another name or of another prefix counts nowhere', async (t) => {
    const { people, stranger, folder, work, tag, judge } = await scene(t);
    const first = await folder(1);
    const tip = await work(1);
    await tag('kubelet/1', tip, stranger);
    await people.git('tag', '-a', '-m', 'Reviewed', 'kubelet/2', tip);
    await tag('v1', tip);
    await people.git('update-ref', 'refs/tags/kubelet/3', 'refs/tags/v1');
    await tag('kubelet/4', 'v1');
    assert.match(await judge(first), MISSING);
    await tag('kubelet/0', tip);
    assert.equal(await judge(first), 'trusted', 'and those beside it take nothing from it');
  });

  it('counts no more once it is taken away', async (t) => {
    const { people, server, folder, work, tag, judge } = await scene(t);
    const first = await folder(1);
    await tag('kubelet/1', await work(1));
    for (const verdict of [/^trusted$/, /^trusted$/]) assert.match(await judge(first), verdict);
    await people.git('tag', '-d', 'kubelet/1');
    await server.git('update-ref', '-d', 'refs/tags/kubelet/1');
    assert.match(await judge(first), MISSING);
  });

  it('has to be on the very commit where the server does not hand out single objects', async (t) => {
    const { folder, work, tag, judge, push, server } = await scene(t, false);
    const first = await folder(1);
    const tip = await work(1);
    for (const name of ['kubelet/1', 'kubelet/3', 'kubelet/4']) await tag(name, tip);
    await push();
    const before = server.requests.length;
    assert.match(await judge(first), MISSING);
    // A tag would come with the whole repository.
    assert.equal(server.requests.length - before, 2, 'a greeting and the list of tags');
    await tag('kubelet/2', first);
    assert.equal(await judge(first), 'trusted');
  });
});
