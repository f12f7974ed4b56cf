import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { it, type TestContext } from 'node:test';
import { createTagReader, type TagObject } from '#reconciler/git/merge-verification/tag-reader.ts';
import { type CommitTrust, createCommitTrust } from '#reconciler/git/trust/commit-trust.ts';
import { splitTag } from '#reconciler/git/trust/signed-tag.ts';
import { trustedKeysIn } from '#reconciler/git/trust/trusted-keys.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { soon } from '../support/start.ts';
import { type Served, serveSigned } from './served.ts';
import { WITHOUT_GIT, WITHOUT_GPG, WITHOUT_SSH } from './signing.ts';

const PREFIX = 'kubelet/';

interface Scene extends Served {
  readonly ada: string;
  readonly stranger: string;
  readonly trust: CommitTrust;
  readonly keys: string;
  tag(name: string, oid: string, key?: string): Promise<void>;
  /** As the reconciler asks at a poll, after all was pushed. */
  judge(oid: string, trust?: CommitTrust): Promise<string>;
}

async function scene(t: TestContext, instead = true, partialClones = true): Promise<Scene> {
  const served = await serveSigned(t, partialClones);
  const { people, remote, keysOf } = served;
  const [ada, stranger] = [
    await people.sshKey('ada', '-t', 'ed25519'),
    await people.sshKey('stranger', '-t', 'ed25519'),
  ];
  const keys = await keysOf('ada', ada);
  const of = createTagReader(remote, PREFIX);
  const ports = { keys: trustedKeysIn(keys), clock: systemClock, log: silentLog };
  const trust = createCommitTrust({ ...ports, tags: { of, prefix: PREFIX, instead } });
  return {
    ...served,
    ada,
    stranger,
    trust,
    keys,
    tag: async (name, oid, key) => {
      const sign = key === undefined ? ['-a'] : ['-s'];
      const settings = ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${key ?? ''}`];
      await people.git(...settings, 'tag', ...sign, '-f', '-m', `Release ${name}`, name, oid);
    },
    async judge(oid, by = trust) {
      await served.push();
      const verdict = await by.judge({ oid, raw: await people.raw(oid) }, { since: null, signal: soon() });
      return verdict.verdict === 'untrusted' ? verdict.because : JSON.stringify(verdict);
    },
  };
}

describeOrSkip('where a tag has to be signed', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  for (const partialClones of [true, false]) {
    const how = partialClones ? 'single objects' : 'whole commits only';
    it(`a commit counts once a signed tag points at it, on a server that hands out ${how}`, async (t) => {
      const { people, ada, tag, judge } = await scene(t, true, partialClones);
      const oid = await people.commit();
      assert.match(await judge(oid), /^is missing: no signed tag kubelet\/… points at it$/);
      await tag('kubelet/1', oid, ada);
      assert.match(await judge(oid), /"trusted","signer":"ada@example\.com, by the tag kubelet\/1","key":"SHA256:/);
    });
  }

  it('a commit’s own signature is not enough: it says nothing of a review', async (t) => {
    const { people, ada, judge } = await scene(t);
    assert.match(await judge(await people.commit({ ssh: ada })), /^is missing/);
  });

  it('no other tag counts: none of a stranger, unsigned, lightweight, of another prefix, or on another commit', async (t) => {
    const { people, ada, stranger, tag, judge } = await scene(t);
    const [before, oid] = [await people.commit(), await people.commit()];
    await tag('kubelet/0', before, ada);
    assert.match(await judge(oid), /^is missing/, 'on another commit');
    await people.git('tag', 'kubelet/1', oid);
    await tag('kubelet/2', oid);
    await tag('v3', oid, ada);
    await tag('kubelet-3', oid, ada);
    assert.match(await judge(oid), /^is missing/);
    await tag('kubelet/4', oid, stranger);
    assert.match(await judge(oid), /is of a key that is not trusted, SHA256:.* \(tag kubelet\/4\)/);
    await tag('kubelet/5', oid, ada);
    assert.match(await judge(oid), /"trusted"/, 'and those beside it take nothing from it');
  });

  it('a tag counts under no other name than the one that was signed, and for no other commit', async (t) => {
    const { people, server, ada, tag, judge } = await scene(t);
    const oid = await people.commit();
    await tag('v1', oid, ada);
    await people.git('update-ref', 'refs/tags/kubelet/1', 'refs/tags/v1');
    assert.match(await judge(oid), /is of a tag of another name or commit/);
    // A tag of the tag leads to the same commit, and nobody trusted made it.
    await tag('kubelet/2', 'v1', ada);
    await server.git('update-ref', '-d', 'refs/tags/kubelet/1');
    await people.git('tag', '-d', 'kubelet/1');
    assert.match(await judge(oid), /^is missing/);
  });

  it('a tag that is taken away, or put elsewhere, counts no more', async (t) => {
    const { people, server, ada, tag, judge } = await scene(t);
    const [one, other] = [await people.commit(), await people.commit()];
    await tag('kubelet/1', one, ada);
    assert.match(await judge(one), /"trusted"/);
    await tag('kubelet/1', other, ada);
    assert.match(await judge(one), /^is missing/);
    assert.match(await judge(other), /"trusted"/);
    await people.git('tag', '-d', 'kubelet/1');
    await server.git('update-ref', '-d', 'refs/tags/kubelet/1');
    assert.match(await judge(other), /^is missing/);
  });

  it('a tag that is too big to be read counts for nothing, and takes nothing from those beside it', async (t) => {
    const { people, server, ada, tag, judge } = await scene(t);
    const oid = await people.commit();
    const file = `${people.directory}/huge`;
    const head = `object ${oid}\ntype commit\ntag kubelet/9\ntagger A <a@b> 1767225600 +0000\n\n`;
    await writeFile(file, head + 'x'.repeat(2 * 1024 * 1024));
    const huge = await people.git('hash-object', '-t', 'tag', '-w', file);
    await people.git('update-ref', 'refs/tags/kubelet/9', huge);
    assert.match(await judge(oid), /^is missing/);
    await tag('kubelet/1', oid, ada);
    assert.match(await judge(oid), /"trusted"/);
    const before = server.requests.length;
    assert.match(await judge(oid), /"trusted"/);
    assert.equal(server.requests.length - before, 1, 'it is not downloaded again');
  });

  it('a git server that does not answer is no verdict, and a tag is fetched once', async (t) => {
    const { people, server, ada, tag, judge } = await scene(t);
    const oid = await people.commit();
    await tag('kubelet/1', oid, ada);
    for (const requests of [3, 4, 5]) {
      assert.match(await judge(oid), /"trusted"/);
      assert.equal(
        server.requests.length,
        requests,
        'a greeting and the tag the first time, and the list of tags each time',
      );
    }
    server.fault = () => ({ status: 503 });
    await assert.rejects(judge(oid), /503/);
  });
});

describeOrSkip('where a tag or the commit has to be signed', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  it('either will do', async (t) => {
    const { people, ada, stranger, tag, judge } = await scene(t, false);
    assert.match(await judge(await people.commit({ ssh: ada })), /"trusted"/);
    const oid = await people.commit();
    assert.match(await judge(oid), /"unsigned"/);
    await tag('kubelet/1', oid, ada);
    assert.match(await judge(oid), /"trusted"/);
    const theirs = await people.commit({ ssh: stranger });
    assert.match(await judge(theirs), /is of a key that is not trusted/);
    await tag('kubelet/2', theirs, ada);
    assert.match(await judge(theirs), /"trusted"/);
  });
});

describeOrSkip('the signature of a tag', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  const rawTag = async ({ people }: Served, name: string): Promise<Buffer> =>
    Buffer.from(`${await people.git('cat-file', 'tag', name)}\n`);

  it('is judged as git verify-tag judges it, by SSH and by OpenPGP', { skip: WITHOUT_GPG }, async (t) => {
    const { people, ada, keys, tag, ...served } = await scene(t);
    const oid = await people.commit();
    await tag('kubelet/ssh', oid, ada);
    await people.git('-c', `gpg.ssh.allowedSignersFile=${keys}/signers`, 'verify-tag', 'kubelet/ssh');
    const home = `${people.directory}/people`;
    await people.gpg('people', '--passphrase', '', '--quick-gen-key', 'bob@example.com', 'ed25519', 'sign');
    const settings = ['-c', 'user.signingKey=bob@example.com', '-c', `gpg.program=${home}/gpg`];
    await writeFile(`${home}/gpg`, `#!/bin/sh\nexec gpg --homedir '${home}' "$@"\n`, { mode: 0o755 });
    await people.git(...settings, 'tag', '-s', '-m', 'By Bob', 'kubelet/pgp', oid);
    await people.git(...settings, 'verify-tag', 'kubelet/pgp');
    await people.git('tag', '-d', 'kubelet/ssh');
    assert.match(await served.judge(oid), /is of a key that is not trusted, [0-9A-F]{16} \(tag kubelet\/pgp\)/);
    await writeFile(`${keys}/bob.asc`, await people.gpg('people', '--armor', '--export', 'bob@example.com'));
    assert.match(await served.judge(oid), /bob@example\.com, by the tag kubelet\/pgp/);
  });

  it('does not fit once anything in the tag is another', async (t) => {
    const made = await scene(t);
    const oid = await made.people.commit();
    await made.tag('kubelet/1', oid, made.ada);
    const right = (await rawTag(made, 'kubelet/1')).toString('latin1');
    const tags: TagObject[] = [];
    const trust = createCommitTrust({
      keys: trustedKeysIn(made.keys),
      tags: { of: () => Promise.resolve(tags), prefix: PREFIX, instead: true },
      clock: systemClock,
      log: silentLog,
    });
    const said = async (text: string, name = 'kubelet/1', commit = oid): Promise<string> => {
      tags.splice(0, 1, { name, oid: text, commit, raw: Buffer.from(text, 'latin1') });
      return (await trust.judge({ oid: commit, raw: await made.people.raw(commit) })).verdict;
    };
    assert.equal(await said(right), 'trusted');
    // A git server may say of any tag that it leads anywhere.
    assert.equal(await said(right, 'kubelet/1', await made.people.commit()), 'untrusted');
    const signature = right.slice(right.indexOf('-----BEGIN'));
    for (const wrong of [
      right.replace('Release', 'release'),
      right.replace(/tagger [^<]*/, 'tagger Eve '),
      right.replace('\n\n', '\nnote more\n\n'),
      right.replace('type commit', 'type tree'),
      right.replace(signature, signature + signature),
      `${right}more\n`,
      signature,
      '',
    ]) {
      assert.equal(await said(wrong), 'untrusted', wrong);
    }
    assert.equal(await said(right.replace('tag kubelet/1', 'tag kubelet/2'), 'kubelet/2'), 'untrusted');
    await made.tag('v1', oid, made.ada);
    const release = (await rawTag(made, 'v1')).toString('latin1');
    assert.equal(await said(release, 'v1'), 'untrusted', 'of another prefix, whatever the server lists');
    assert.equal(await said(right), 'trusted', 'again');
  });

  it('is over all before its last frame, as git takes it', () => {
    const head = `object ${'a'.repeat(40)}\ntype commit\ntag v1\ntagger A <a@b> 1767225600 +0100\n\n`;
    const frame = '-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n';
    const split = splitTag(Buffer.from(`${head}one\n${frame}two\n${frame}`));
    assert.deepEqual([split?.payload.toString(), split?.signature], [`${head}one\n${frame}two\n`, frame]);
    assert.deepEqual([split?.commit, split?.name, split?.taggedAt], ['a'.repeat(40), 'v1', 1_767_225_600]);
    assert.equal(splitTag(Buffer.from(`${head}one ${frame}`)), undefined, 'not at the beginning of a line');
    assert.equal(splitTag(Buffer.from(`${head}one\n`)), undefined);
    assert.equal(splitTag(Buffer.from(`${head}${frame}`))?.payload.toString(), head, 'without a message');
  });
});
