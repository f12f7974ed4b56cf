import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { createMergeVerifier } from '#reconciler/git/merge-verification/merge-verifier.ts';
import { createCommitTrust } from '#reconciler/git/trust/commit-trust.ts';
import { trustedKeysIn } from '#reconciler/git/trust/trusted-keys.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { soon } from '../support/start.ts';
import { type Served, serveSigned } from './served.ts';
import { WITHOUT_GIT, WITHOUT_SSH } from './signing.ts';

const COMMON = { 'pools/a/kubelet.yaml': 'a: 1\n', 'pools/b/kubelet.yaml': 'b: 1\n', README: 'One\n' };

interface Scene extends Served {
  readonly ada: string;
  readonly bob: string;
  readonly forge: string;
  /** Commits on a branch off main. */
  onSide(files: Readonly<Record<string, string | null>>, key?: string): Promise<string>;
  /** Merges the branch into main, with a key. */
  merge(key?: string): Promise<string>;
  /** Signs the last commit again, with what was staged. */
  amend(key: string): Promise<string>;
  /** What is said of main's tip once it is pushed. */
  judge(since: string | null, oid?: string): Promise<string>;
}

/** Main has one commit, signed by Ada; the forge's key is for merges only, and Bob's is nobody's. */
async function scene(t: TestContext, partialClones = true, folder = ''): Promise<Scene & { readonly first: string }> {
  const served = await serveSigned(t, partialClones);
  const { people, remote, keysOf, save } = served;
  const names = ['ada', 'bob', 'forge'] as const;
  const [ada, bob, forge] = await Promise.all(names.map((name) => people.sshKey(name, '-t', 'ed25519')));
  assert.ok(ada !== undefined && bob !== undefined && forge !== undefined);
  const [all, merging] = [await keysOf('ada', ada), await keysOf('forge', forge)];
  const wrongWith = createMergeVerifier(remote, folder);
  const merges = { keys: trustedKeysIn(merging), wrongWith };
  const trust = createCommitTrust({ keys: trustedKeysIn(all), merges, clock: systemClock, log: silentLog });
  const first = await save(COMMON, { ssh: ada });
  let sides = 0;
  return {
    ...served,
    ada,
    bob,
    forge,
    first,
    async onSide(files, key = ada) {
      const isNew = (await people.git('branch', '--show-current')) === 'main';
      if (isNew) await people.git('checkout', '--quiet', '-b', `side-${(sides += 1)}`);
      return save(files, { ssh: key });
    },
    async merge(key = forge) {
      const side = await people.git('branch', '--show-current');
      if (side !== 'main') await people.git('checkout', '--quiet', 'main');
      return people.commit({ merge: side === 'main' ? `side-${sides}` : side, ssh: key });
    },
    async amend(key) {
      await people.git('add', '-A');
      const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key}`];
      await people.git(...settings, 'commit', '--quiet', '--amend', '-S', '--no-edit', '--allow-empty');
      return people.git('rev-parse', 'HEAD');
    },
    async judge(since, oid) {
      await served.push();
      const tip = oid ?? (await people.git('rev-parse', 'main'));
      const verdict = await trust.judge({ oid: tip, raw: await people.raw(tip) }, { since, signal: soon() });
      return verdict.verdict === 'untrusted' ? verdict.because : verdict.verdict;
    },
  };
}

const onMain = async ({ people }: Served): Promise<void> => void (await people.git('checkout', '--quiet', 'main'));

describeOrSkip('a key for merges only', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  for (const partialClones of [true, false]) {
    const how = partialClones ? 'single objects' : 'whole commits only';
    it(`lets in a merge of what trusted people signed, on a server that hands out ${how}`, async (t) => {
      const it = await scene(t, partialClones);
      await it.onSide({ 'pools/a/kubelet.yaml': 'a: 2\n' });
      await it.onSide({ 'pools/c/kubelet.yaml': 'c: 1\n', README: null });
      await onMain(it);
      await it.save({ 'pools/b/kubelet.yaml': 'b: 2\n' }, { ssh: it.ada });
      await it.merge();
      assert.equal(await it.judge(it.first), 'trusted');
    });

    it(`does not let in a merge that holds what neither side has, on a server that hands out ${how}`, async (t) => {
      const it = await scene(t, partialClones);
      await it.onSide({ 'pools/a/kubelet.yaml': 'a: 2\n' });
      await it.merge();
      await writeFile(join(it.people.git.directory, 'pools/b/kubelet.yaml'), 'b: evil\n');
      await it.amend(it.forge);
      const said = /which counts for merges only: it has its files otherwise than its parents do/;
      assert.match(await it.judge(it.first), said);
    });
  }

  it('lets in no commit that is not a merge', async (t) => {
    const it = await scene(t);
    await it.save({ 'pools/a/kubelet.yaml': 'a: 2\n' }, { ssh: it.forge });
    assert.match(await it.judge(it.first), /is of the key SHA256:\S+, which counts for merges only: it is not a merge/);
  });

  it('is no key of a person: a merge that it does not sign counts as it did', async (t) => {
    const it = await scene(t);
    await it.onSide({ 'pools/a/kubelet.yaml': 'a: 2\n' }, it.bob);
    await it.merge(it.bob);
    assert.match(await it.judge(it.first), /is of a key that is not trusted/);
    await it.amend(it.ada);
    assert.equal(await it.judge(it.first), 'trusted', 'who signs vouches for all of it');
  });

  for (const [what, by, said] of [
    [
      'of nobody’s key',
      'bob',
      /merges the commit [0-9a-f]{40}, which has a signature that is of a key that is not trusted/,
    ],
    ['without a signature', undefined, /merges the commit [0-9a-f]{40}, which is not signed/],
    ['that the forge signed by itself', 'forge', /merges the commit [0-9a-f]{40}, which is not a merge/],
  ] as const) {
    it(`lets in nothing ${what}: not at the end of what is merged, nor below a signed end, nor on main`, async (t) => {
      const it = await scene(t);
      for (const place of ['end', 'below', 'main'] as const) {
        await it.people.git('reset', '--quiet', '--hard', it.first);
        const options = by === undefined ? {} : { ssh: it[by] };
        await it.onSide({ 'pools/a/kubelet.yaml': 'a: 2\n' });
        if (place === 'main') await onMain(it);
        await it.save({ 'pools/b/kubelet.yaml': 'b: 2\n' }, options);
        if (place !== 'end') await it.save({ 'pools/c/kubelet.yaml': 'c: 2\n' }, { ssh: it.ada });
        await it.merge();
        assert.match(await it.judge(it.first), said, place);
      }
    });
  }

  it('does not ask of what is in force already who signed it', async (t) => {
    const it = await scene(t);
    const inForce = await it.save({ README: 'Two\n' });
    await it.onSide({ 'pools/a/kubelet.yaml': 'a: 2\n' });
    const merged = await it.merge();
    assert.equal(await it.judge(inForce), 'trusted');
    assert.equal(await it.judge(merged), 'trusted', 'once it is in force itself');
    assert.match(await it.judge(it.first), /which is not signed/, 'it is new there');
    assert.equal(await it.judge(merged), 'trusted', 'after a restart');
    assert.match(await it.judge(null), /which is not signed/, 'while nothing is in force');
  });

  it('counts for merges of merges, and not where one of them adds something', async (t) => {
    const it = await scene(t);
    await it.onSide({ 'pools/a/kubelet.yaml': 'a: 2\n' });
    await it.merge();
    await it.onSide({ 'pools/b/kubelet.yaml': 'b: 2\n' });
    await it.merge();
    assert.equal(await it.judge(it.first), 'trusted');
    assert.equal(await it.judge(null), 'trusted', 'also as the first commit');
    await it.onSide({ 'pools/c/kubelet.yaml': 'c: 2\n' });
    await it.merge();
    await writeFile(join(it.people.git.directory, 'pools/c/kubelet.yaml'), 'c: evil\n');
    const evil = await it.amend(it.forge);
    await it.onSide({ 'pools/d/kubelet.yaml': 'd: 2\n' });
    await it.merge();
    assert.match(await it.judge(it.first), new RegExp(`merges the commit ${evil}, which has its files otherwise`));
  });

  it('lets in no merge that goes back to an older file, drops a change, or brings back what was removed', async (t) => {
    const it = await scene(t);
    await it.onSide({ 'pools/a/kubelet.yaml': 'a: 2\n', README: null, 'pools/new/kubelet.yaml': 'n: 1\n' });
    await onMain(it);
    await it.save({ 'pools/b/kubelet.yaml': 'b: 2\n' }, { ssh: it.ada });
    const right = await it.merge();
    assert.equal(await it.judge(it.first), 'trusted');
    for (const [path, content, named] of [
      ['pools/b/kubelet.yaml', 'b: 1\n', 'pools/b'],
      ['pools/a/kubelet.yaml', 'a: 1\n', 'pools/a'],
      ['pools/a/kubelet.yaml', 'a: evil\n', 'pools/a'],
      ['README', 'One\n', 'README'],
      ['pools/new/kubelet.yaml', null, 'pools/new'],
      ['pools/evil', 'x\n', 'pools/evil'],
    ] as const) {
      await it.people.git('reset', '--quiet', '--hard', right);
      if (content === null) await it.people.git('rm', '--quiet', path);
      else await writeFile(join(it.people.git.directory, path), content);
      await it.amend(it.forge);
      assert.ok((await it.judge(it.first)).endsWith(`it has “${named}” otherwise than its parents do`), path);
    }
  });

  it('lets in no file that both sides changed, not even where git can merge it', async (t) => {
    const it = await scene(t);
    const lines = (first: number, last: number) => `a: ${first}\n${'#\n'.repeat(20)}z: ${last}\n`;
    const base = await it.save({ 'pools/a/kubelet.yaml': lines(1, 1) }, { ssh: it.ada });
    await it.onSide({ 'pools/a/kubelet.yaml': lines(2, 1) });
    await onMain(it);
    await it.save({ 'pools/a/kubelet.yaml': lines(1, 2) }, { ssh: it.ada });
    await it.merge();
    assert.match(await it.judge(base), /it holds “pools\/a\/kubelet\.yaml”, which both of its sides changed/);
  });

  it('lets in the same change of both sides, and one of a file’s kind', async (t) => {
    const it = await scene(t);
    await it.onSide({ 'pools/a/kubelet.yaml': 'a: 2\n', 'pools/b/kubelet.yaml': null });
    await it.onSide({ 'pools/b/kubelet.yaml/deep': 'x\n' });
    await onMain(it);
    await it.save({ 'pools/a/kubelet.yaml': 'a: 2\n' }, { ssh: it.ada });
    await it.merge();
    assert.equal(await it.judge(it.first), 'trusted');
  });

  it('lets in no merge of three', async (t) => {
    const it = await scene(t);
    for (const pool of ['c', 'd']) {
      await it.onSide({ [`pools/${pool}/kubelet.yaml`]: 'x\n' });
      await onMain(it);
    }
    const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${it.forge}`];
    await it.people.git(...settings, 'merge', '--quiet', '--no-ff', '-S', '-m', 'Both', 'side-1', 'side-2');
    assert.match(await it.judge(it.first), /it merges more than two/);
  });

  it('lets in nothing that comes from further back than is looked', async (t) => {
    const it = await scene(t);
    await it.onSide({ 'pools/a/kubelet.yaml': 'a: 2\n' });
    await onMain(it);
    for (let index = 0; index < 70; index += 1)
      await it.people.git('commit', '--quiet', '--allow-empty', '-m', `${index}`);
    const inForce = await it.people.git('rev-parse', 'HEAD');
    await it.merge();
    assert.match(await it.judge(inForce), /further back than 64 generations/);
  });

  it('looks at no more than the folder that is the config repository', async (t) => {
    const it = await scene(t, true, 'pools');
    await it.onSide({ README: 'Three\n', 'pools/a/kubelet.yaml': 'a: 2\n' });
    await onMain(it);
    await it.save({ README: 'Two\n' }, { ssh: it.ada });
    await it.people.git('merge', '--quiet', '--no-ff', '-s', 'ort', '-X', 'ours', '-m', 'Merge', 'side-1');
    await it.amend(it.forge);
    assert.equal(await it.judge(it.first), 'trusted');
    await writeFile(join(it.people.git.directory, 'pools/b/kubelet.yaml'), 'b: evil\n');
    await it.amend(it.forge);
    assert.match(await it.judge(it.first), /it has its files otherwise/);
  });

  it('has the repository asked once for a tip, and again where keys change', async (t) => {
    const it = await scene(t);
    await it.onSide({ 'pools/a/kubelet.yaml': 'a: 2\n' });
    const tip = await it.merge();
    const requests = (): number => it.server.requests.length;
    assert.equal(await it.judge(it.first), 'trusted');
    const asked = requests();
    assert.equal(await it.judge(it.first), 'trusted');
    assert.equal(await it.judge(tip), 'trusted', 'once it is in force');
    assert.equal(requests(), asked);
    const keys = join(it.people.directory, 'keys-of-ada');
    await rename(join(keys, 'signers'), join(keys, '.gone'));
    assert.match(
      await it.judge(it.first),
      /merges the commit [0-9a-f]{40}, which has a signature that is of a key that is not trusted/,
    );
    assert.ok(requests() > asked);
    it.server.fault = () => ({ status: 503 });
    await rename(join(keys, '.gone'), join(keys, 'signers'));
    await assert.rejects(it.judge(it.first), /503/);
  });
});
