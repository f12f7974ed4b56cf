import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createCommitTrust } from '#reconciler/git/trust/commit-trust.ts';
import { splitCommit } from '#reconciler/git/trust/signed-commit.ts';
import { trustedKeysIn } from '#reconciler/git/trust/trusted-keys.ts';
import type { SignatureVerdict } from '#reconciler/policy/commit-snapshot.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { type SigningRepository, startSigning, WITHOUT_GIT, WITHOUT_GPG, WITHOUT_SSH } from './signing.ts';

const run = promisify(execFile);

let repository: SigningRepository;
let trusted: string;

async function ours(oid: string, now = systemClock.now()): Promise<SignatureVerdict> {
  const trust = createCommitTrust({ keys: trustedKeysIn(trusted), clock: { now: () => now }, log: silentLog });
  return trust.judge({ oid, raw: await repository.raw(oid) });
}

/** git's own verdict, with the same keys. */
async function gits(oid: string): Promise<boolean> {
  const gpg = join(repository.directory, 'gpg-verifier');
  await writeFile(gpg, `#!/bin/sh\nexec gpg --homedir '${join(repository.directory, 'verifier')}' "$@"\n`, {
    mode: 0o755,
  });
  const settings = [`gpg.program=${gpg}`, `gpg.ssh.allowedSignersFile=${join(trusted, 'allowed_signers')}`];
  const { code } = await repository.git.attempt(
    ...settings.flatMap((setting) => ['-c', setting]),
    'verify-commit',
    oid,
  );
  return code === 0;
}

async function agree(oid: string, expected: SignatureVerdict['verdict'], because?: RegExp): Promise<void> {
  const verdict = await ours(oid);
  assert.equal(verdict.verdict, expected, JSON.stringify(verdict));
  if (because !== undefined) assert.match(verdict.verdict === 'untrusted' ? verdict.because : '', because);
  assert.equal(await gits(oid), expected === 'trusted', 'git verify-commit');
}

async function begin(): Promise<void> {
  repository = await startSigning();
  trusted = join(repository.directory, 'trusted');
  await mkdir(trusted);
  await writeFile(join(trusted, 'allowed_signers'), '');
}

/** The commit with another message and the signature of the first. */
async function tampered(oid: string): Promise<string> {
  const raw = (await repository.raw(oid)).toString('latin1');
  return repository.write(Buffer.from(raw.replace(/\n\n[^\n]*/, '\n\nSomething else'), 'latin1'));
}

describeOrSkip('a commit signed with SSH', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  before(begin);
  after(() => repository.remove());
  const signers = (...lines: readonly string[]) => writeFile(join(trusted, 'allowed_signers'), `${lines.join('\n')}\n`);

  for (const [type, ...options] of [
    ['ed25519'],
    ['ecdsa', '-b', '256'],
    ['ecdsa', '-b', '384'],
    ['ecdsa', '-b', '521'],
    ['rsa', '-b', '2048'],
    ['rsa', '-b', '4096'],
  ] as const) {
    it(`by a trusted ${type} ${options.at(-1) ?? ''} key is trusted, and a changed one is not`, async () => {
      const key = await repository.sshKey(`good-${type}-${options.at(-1) ?? ''}`, '-t', type, ...options);
      await signers(`ada@example.com ${await repository.publicLine(key)}`);
      for (let n = 0; n < 4; n += 1) {
        const oid = await repository.commit({ ssh: key, message: `Change ${n}` });
        await agree(oid, 'trusted');
        await agree(await tampered(oid), 'untrusted', /changed/);
      }
    });
  }

  it('says whose key it was', async () => {
    const key = await repository.sshKey('named', '-t', 'ed25519');
    await signers(`ada@example.com,ada@work.example.com ${await repository.publicLine(key)}`);
    const oid = await repository.commit({ ssh: key });
    const { stdout } = await run('ssh-keygen', ['-lf', `${key}.pub`]);
    const fingerprint = stdout.split(' ')[1] ?? '';
    const signer = 'ada@example.com,ada@work.example.com';
    assert.deepEqual(await ours(oid), { verdict: 'trusted', signer, key: fingerprint });
  });

  it('by somebody unknown is not trusted, and neither is one without a signature', async () => {
    const [key, stranger] = [await repository.sshKey('known', '-t', 'ed25519'), await repository.sshKey('stranger')];
    await signers(`ada@example.com ${await repository.publicLine(key)}`);
    await agree(await repository.commit({ ssh: stranger }), 'untrusted', /not trusted, SHA256:/);
    await agree(await repository.commit(), 'unsigned');
    await signers('');
    await agree(await repository.commit({ ssh: key }), 'untrusted', /not trusted/);
  });

  it('outside of the time that its key was allowed is not trusted', async () => {
    const key = await repository.sshKey('timely', '-t', 'ed25519');
    const line = await repository.publicLine(key);
    const oid = await repository.commit({ ssh: key, at: '2026-03-01T12:00:00Z' });
    for (const [options, verdict] of [
      ['valid-after="20260301120000Z"', 'trusted'],
      ['valid-after="20260301120001Z"', 'untrusted'],
      ['valid-before="20260301120000Z"', 'trusted'],
      ['valid-before="20260301115959Z"', 'untrusted'],
      ['valid-after="20260101",valid-before="20260401"', 'trusted'],
      ['valid-after="202601010000"', 'trusted'],
      ['valid-before="20260301"', 'untrusted'],
      ['namespaces="git"', 'trusted'],
      ['namespaces="file,git"', 'trusted'],
      ['namespaces="g*"', 'trusted'],
      ['namespaces="file"', 'untrusted'],
      ['namespaces="*,!git"', 'untrusted'],
      ['NAMESPACES="git",valid-before="20260301Z"', 'untrusted'],
      ['cert-authority', 'untrusted'],
      ['unheard-of="x"', 'untrusted'],
      ['namespaces="git', 'untrusted'],
    ] as const) {
      await signers('# who may sign', '', `ada@example.com ${options} ${line}`);
      // Seen as soon as it is made: git has no other time than the commit's own.
      const found = await ours(oid, Date.parse('2026-03-01T12:00:00Z'));
      assert.equal(found.verdict, verdict, `${options}: ${JSON.stringify(found)}`);
      assert.equal(await gits(oid), verdict === 'trusted', `git verify-commit: ${options}`);
    }
  });

  it('that was signed for something else than git is not trusted', async () => {
    const key = await repository.sshKey('elsewhere', '-t', 'ed25519');
    await signers(`ada@example.com ${await repository.publicLine(key)}`);
    const plain = await repository.raw(await repository.commit());
    const file = join(repository.directory, 'payload');
    for (const [namespace, verdict] of [
      ['file', 'untrusted'],
      ['git', 'trusted'],
    ] as const) {
      await writeFile(file, plain);
      await rm(`${file}.sig`, { force: true });
      await run('ssh-keygen', ['-q', '-Y', 'sign', '-n', namespace, '-f', key, file]);
      const signature = (await readFile(`${file}.sig`, 'utf8')).trimEnd().replaceAll('\n', '\n ');
      const blank = plain.indexOf('\n\n') + 1;
      const raw = Buffer.concat([
        plain.subarray(0, blank),
        Buffer.from(`gpgsig ${signature}\n`),
        plain.subarray(blank),
      ]);
      await agree(await repository.write(raw), verdict);
      const twice = Buffer.concat([raw.subarray(0, blank), Buffer.from(`gpgsig ${signature}\n`), raw.subarray(blank)]);
      // git takes the first of several signatures; here, several are none.
      assert.equal((await ours(await repository.write(twice))).verdict, 'untrusted');
    }
  });

  it('counts for a merge when the merge itself is signed, whatever was merged', async () => {
    const key = await repository.sshKey('merger', '-t', 'ed25519');
    await signers(`ada@example.com ${await repository.publicLine(key)}`);
    const { git, commit } = repository;
    for (const [merged, merging] of [
      [undefined, key],
      [key, undefined],
    ]) {
      const base = await commit(key === merging ? {} : { ssh: key });
      await git('checkout', '--quiet', '-b', `side-${merging === key}`);
      const side = await commit(merged === undefined ? {} : { ssh: merged });
      await git('checkout', '--quiet', 'main');
      await commit(merged === undefined ? {} : { ssh: merged });
      const merge = await commit({ merge: side, ...(merging === undefined ? {} : { ssh: merging }) });
      await agree(merge, merging === undefined ? 'unsigned' : 'trusted');
      await agree(base, key === merging ? 'unsigned' : 'trusted');
    }
  });

  it('is no matter of tags unless they are asked for: a signed tag on an unsigned commit changes nothing, also when it is merged', async () => {
    const key = await repository.sshKey('tagger', '-t', 'ed25519');
    await signers(`ada@example.com ${await repository.publicLine(key)}`);
    const { git, commit } = repository;
    await git('checkout', '--quiet', '-b', 'tagged');
    const oid = await commit();
    await git('-c', 'gpg.format=ssh', '-c', `user.signingKey=${key}`, 'tag', '-s', '-m', 'Release', 'v1', oid);
    await agree(oid, 'unsigned');
    await git('checkout', '--quiet', 'main');
    await commit();
    const merge = await commit({ merge: 'v1' });
    assert.match((await repository.raw(merge)).toString(), /^mergetag [\s\S]*BEGIN SSH SIGNATURE/m);
    await agree(merge, 'unsigned');
    await git('reset', '--quiet', '--hard', 'HEAD~1');
    await agree(await commit({ merge: 'v1', ssh: key }), 'trusted');
  });

  it('is read by its headers alone, in any encoding', async () => {
    const key = await repository.sshKey('writer', '-t', 'ed25519');
    await signers(`ada@example.com ${await repository.publicLine(key)}`);
    const fake = 'A message\n\ngpgsig -----BEGIN SSH SIGNATURE-----\n AAAA\n -----END SSH SIGNATURE-----\n';
    await agree(await repository.commit({ message: fake }), 'unsigned');
    await agree(await repository.commit({ message: fake, ssh: key }), 'trusted');
    await agree(await repository.commit({ message: 'Größe', encoding: 'iso-8859-1', ssh: key }), 'trusted');
    const long = await repository.commit({ message: `${'x'.repeat(100)}\n\n${'line\n'.repeat(5_000)}`, ssh: key });
    await agree(long, 'trusted');
  });

  it('follows the file of signers as it is now', async () => {
    const key = await repository.sshKey('rotated', '-t', 'ed25519');
    const oid = await repository.commit({ ssh: key });
    const trust = createCommitTrust({ keys: trustedKeysIn(trusted), clock: systemClock, log: silentLog });
    const judge = async (): Promise<string> => (await trust.judge({ oid, raw: await repository.raw(oid) })).verdict;
    await signers('');
    assert.equal(await judge(), 'untrusted');
    await signers(`ada@example.com ${await repository.publicLine(key)}`);
    assert.equal(await judge(), 'trusted');
    await rm(join(trusted, 'allowed_signers'));
    assert.equal(await judge(), 'untrusted');
    await rm(trusted, { recursive: true });
    const verdict = await trust.judge({ oid, raw: await repository.raw(oid) });
    assert.match(verdict.verdict === 'untrusted' ? verdict.because : '', /could not be checked: .*ENOENT/);
    await mkdir(trusted);
  });
});

describeOrSkip('a commit signed with OpenPGP', { skip: WITHOUT_GIT || WITHOUT_GPG }, () => {
  before(begin);
  after(() => repository.remove());

  /** Makes a key of a person, and has everybody trust it. */
  async function person(
    name: string,
    algorithm: string,
    expires = 'never',
    more: readonly string[] = [],
  ): Promise<string> {
    const id = `${name}@example.com`;
    await repository.gpg('people', ...more, '--passphrase', '', '--quick-gen-key', id, algorithm, 'sign', expires);
    return id;
  }
  async function trust(id: string): Promise<void> {
    const armoured = await repository.gpg('people', '--armor', '--export', id);
    await writeFile(join(trusted, `${id}.asc`), armoured);
    await repository.gpg('verifier', '--import', join(trusted, `${id}.asc`));
  }
  const signedBy = (key: string, time?: string) => ({ key, home: 'people', ...(time === undefined ? {} : { time }) });

  for (const algorithm of ['ed25519', 'rsa3072', 'nistp256', 'nistp384', 'nistp521']) {
    it(`by a trusted ${algorithm} key is trusted, and a changed one is not`, async () => {
      const id = await person(`good-${algorithm}`, algorithm);
      await trust(id);
      const oid = await repository.commit({ gpg: signedBy(id) });
      await agree(oid, 'trusted');
      await agree(await tampered(oid), 'untrusted', /does not hold/);
    });
  }

  it('by a subkey that may sign is trusted, and says whose key it is', async () => {
    const id = await person('subkey', 'ed25519');
    const listed = await repository.gpg('people', '--with-colons', '--list-keys', id);
    const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? '';
    await repository.gpg('people', '--passphrase', '', '--quick-add-key', fingerprint, 'ed25519', 'sign');
    await trust(id);
    const oid = await repository.commit({ gpg: signedBy(id) });
    await agree(oid, 'trusted');
    assert.deepEqual(await ours(oid), { verdict: 'trusted', signer: id, key: fingerprint });
  });

  it('by somebody unknown is not trusted', async () => {
    const id = await person('stranger', 'ed25519');
    await agree(await repository.commit({ gpg: signedBy(id) }), 'untrusted', /not trusted, [0-9A-F]{16}/);
  });

  it('by a key that has expired since is not trusted any more', async () => {
    const then = '20200101T000000';
    const id = await person('old', 'ed25519', '2020-02-01', ['--faked-system-time', then]);
    await trust(id);
    const oid = await repository.commit({ gpg: signedBy(id, '20200110T000000'), at: '2020-01-10T00:00:00Z' });
    await agree(oid, 'untrusted', /no longer good/);
    assert.equal((await ours(oid, Date.parse('2020-01-20T00:00:00Z'))).verdict, 'trusted', 'while it was good');
  });

  it('by a key that was revoked is not trusted any more', async () => {
    const id = await person('revoked', 'ed25519');
    await trust(id);
    const oid = await repository.commit({ gpg: signedBy(id) });
    await agree(oid, 'trusted');
    const listed = await repository.gpg('people', '--with-colons', '--list-keys', id);
    const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? '';
    const file = join(repository.directory, 'people', 'openpgp-revocs.d', `${fingerprint}.rev`);
    await writeFile(file, (await readFile(file, 'utf8')).replace(/^:(?=-----BEGIN)/m, ''));
    await repository.gpg('people', '--import', file);
    await trust(id);
    await agree(oid, 'untrusted', /revoked|no longer good/);
  });

  it('by a subkey that has expired or was revoked is not trusted, though the key itself is', async () => {
    for (const [name, early, until] of [
      ['subkey-expired', ['--faked-system-time', '20200101T000000'], '2020-02-01'],
      ['subkey-revoked', [], 'never'],
    ] as const) {
      const id = await person(name, 'ed25519', 'never', early);
      const listed = await repository.gpg('people', '--with-colons', '--list-keys', id);
      const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? '';
      const add = ['--passphrase', '', '--quick-add-key', fingerprint, 'ed25519', 'sign', until];
      await repository.gpg('people', ...early, ...add);
      const oid = await repository.commit({ gpg: signedBy(id, early.length > 0 ? '20200110T000000' : undefined) });
      if (until === 'never') {
        await trust(id);
        await agree(oid, 'trusted');
        const answers = join(repository.directory, 'answers');
        await writeFile(answers, ['key 1', 'revkey', 'y', '1', '', 'y', 'save', ''].join('\n'));
        const ask = ['--pinentry-mode', 'loopback', '--passphrase', '', '--command-file', answers];
        await repository.gpg('people', ...ask, '--edit-key', id);
      }
      await trust(id);
      await agree(oid, 'untrusted', /no longer good|does not hold/);
    }
  });

  it('twice, or with something beside its signature, is not trusted, because readers may take different ones', async () => {
    const id = await person('glued', 'ed25519');
    await trust(id);
    const signatureIn = (raw: string): string => /^gpgsig (?:.*\n)(?: .*\n)*/m.exec(raw)?.[0] ?? '';
    const rawOf = async (): Promise<string> =>
      (await repository.raw(await repository.commit({ gpg: signedBy(id) }))).toString('latin1');
    const raw = await rawOf();
    const [signature, foreign] = [signatureIn(raw), signatureIn(await rawOf())];
    for (const spoilt of [
      signature + signature,
      signature + foreign,
      foreign + signature,
      signature + foreign.replace('gpgsig ', ' '),
      `${signature} and more\n`,
      signature.replace('gpgsig -', 'gpgsig and before\n -'),
    ]) {
      const oid = await repository.write(Buffer.from(raw.replace(signature, spoilt), 'latin1'));
      assert.equal((await ours(oid)).verdict, 'untrusted', spoilt);
    }
    await agree(await repository.write(Buffer.from(raw, 'latin1')), 'trusted');
  });

  it('is known by binary keys, too, and a file that holds none lets nobody in', async () => {
    const id = await person('binary', 'ed25519');
    const oid = await repository.commit({ gpg: signedBy(id) });
    await repository.gpg('people', '--output', join(trusted, 'binary.gpg'), '--export', id);
    await writeFile(
      join(trusted, 'broken.asc'),
      '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n',
    );
    assert.equal((await ours(oid)).verdict, 'trusted');
    const { unusable } = await trustedKeysIn(trusted)();
    assert.equal(unusable.length, 1);
    assert.match(unusable[0] ?? '', /^broken\.asc: it is not a file of OpenPGP public keys/);
    await repository.gpg('people', '--yes', '--output', join(trusted, 'binary.gpg'), '--export-secret-keys', id);
    assert.equal((await ours(oid)).verdict, 'untrusted', 'a private key lets nobody in');
  });
});

describe('a commit of another kind', () => {
  it('is unsigned or not trusted, and never an error', async () => {
    const trust = createCommitTrust({
      keys: () => Promise.resolve({ ssh: [], openPgp: [], unusable: [] }),
      clock: systemClock,
      log: silentLog,
    });
    const judge = (text: string) => trust.judge({ oid: 'x', raw: Buffer.from(text) });
    assert.deepEqual(await judge(''), { verdict: 'unsigned' });
    assert.deepEqual(await judge('tree x\n\ngpgsig -----BEGIN'), { verdict: 'unsigned' });
    assert.equal((await judge('gpgsig -----BEGIN SIGNED MESSAGE-----\n\nx')).verdict, 'untrusted');
    assert.equal((await judge('gpgsig -----BEGIN PGP SIGNATURE-----\n x\n\nx')).verdict, 'untrusted');
    assert.equal((await judge('gpgsig -----BEGIN SSH SIGNATURE-----\n x\n\nx')).verdict, 'untrusted');
  });

  it('has its time taken from its committer, or from nobody', () => {
    const at = (line: string): number | null => {
      const split = splitCommit(Buffer.from(`tree x\n${line}\ngpgsig x\n\nx`));
      return split.signed ? split.committedAt : null;
    };
    assert.equal(at('committer A <a@b> 1767225600 +0100'), 1_767_225_600);
    assert.equal(at('committer A <> 1767225600 +0100> 5 +0000'), 5);
    assert.equal(at('author A <a@b> 1767225600 +0100'), null);
    assert.equal(at('committer A <a@b> soon'), null);
  });
});
