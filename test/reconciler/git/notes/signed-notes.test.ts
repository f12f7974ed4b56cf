import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { NOTES_NAMESPACE, nextSerial, signedNotesCommit, verifyNotes } from '#reconciler/git/notes/signed-notes.ts';
import { readSigningKey, type SigningKey } from '#reconciler/git/trust/signing-key.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { fc } from '../../../support/property.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { WITHOUT_SSH } from '../trust/signing.ts';

const newKey = (): SigningKey =>
  readSigningKey(String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })));
const KEY = newKey();
const OTHER = newKey();
const COMMIT = {
  tree: '1'.repeat(40),
  parent: '2'.repeat(40),
  author: { name: 'kubelet-gitops', email: 'kubelet-gitops@noreply.invalid' },
  seconds: 1_700_000_000,
  cluster: 'staging',
  serial: 17,
};
const RAW = signedNotesCommit(COMMIT, KEY);
const SIGNATURE = RAW.indexOf('-----BEGIN');
const SIGNERS = [`${KEY.publicLine} staging 2026`];
const becauseOf = (raw: Uint8Array, cluster = 'staging', signers: readonly string[] = SIGNERS): string => {
  const verdict = verifyNotes(raw, cluster, signers);
  return verdict.verdict === 'trusted' ? '' : verdict.because;
};

describe('a commit of notes', () => {
  it('counts as its cluster signed it, with any of several keys', () => {
    const trusted = { verdict: 'trusted', serial: 17, tree: COMMIT.tree, key: KEY.publicLine };
    assert.deepEqual(verifyNotes(RAW, 'staging', SIGNERS), trusted);
    assert.deepEqual(verifyNotes(RAW, 'staging', [OTHER.publicLine, KEY.publicLine]), trusted);
    assert.deepEqual(verifyNotes(signedNotesCommit({ ...COMMIT, parent: null }, KEY), 'staging', SIGNERS), trusted);
  });

  it('does not count otherwise, and says why', () => {
    const bare = RAW.subarray(0, SIGNATURE);
    const elsewhere = Buffer.concat([bare, Buffer.from(KEY.sign(bare, 'git'))]);
    const plain = Buffer.from(bare.toString().replace(/\ncluster: [^]*$/, ''));
    assert.match(becauseOf(plain), /^are not signed$/);
    assert.match(becauseOf(bare), /cannot be read/);
    assert.match(becauseOf(RAW, 'staging', [OTHER.publicLine]), /^are signed with SHA256:\S+, a key that is not named/);
    assert.match(becauseOf(RAW, 'staging', []), /not named/);
    assert.match(becauseOf(RAW, 'canary'), /^are those of staging$/);
    assert.match(becauseOf(elsewhere), /does not fit/);
    assert.match(becauseOf(Buffer.concat([RAW, RAW])), /cannot be read/);
  });

  it('does not count with any bit of it flipped, or with anything put in or left out', () => {
    for (let at = 0; at < RAW.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = Buffer.from(RAW);
        changed[at] = (changed[at] ?? 0) ^ (1 << bit);
        assert.notEqual(becauseOf(changed), '', `byte ${at}, bit ${bit}`);
      }
    }
    fc.assert(
      fc.property(fc.nat(RAW.length), fc.nat(3), fc.uint8Array({ maxLength: 8 }), (at, less, more) => {
        const changed = Buffer.concat([RAW.subarray(0, at), more, RAW.subarray(at + less)]);
        assert.equal(becauseOf(changed) === '', changed.equals(RAW));
      }),
    );
  });

  it('has a serial that only grows, whatever the time is', () => {
    const highest = 999_999_999_999_999;
    assert.notEqual(becauseOf(signedNotesCommit({ ...COMMIT, serial: highest + 1 }, KEY)), '');
    assert.deepEqual([nextSerial(highest - 1, 1_000), nextSerial(highest, 1_000)], [highest, 1_000]);
    assert.deepEqual([nextSerial(0, 1_000), nextSerial(1_000, 1_000), nextSerial(5_000, 1_000)], [1_000, 1_001, 5_001]);
  });
});

describeOrSkip('ssh-keygen', { skip: WITHOUT_SSH }, () => {
  it('verifies what we sign, for this namespace alone', async (t) => {
    const directory = temporaryDirectory(t);
    await writeFile(join(directory, 'allowed'), `staging namespaces="${NOTES_NAMESPACE}" ${KEY.publicLine}\n`);
    await writeFile(join(directory, 'signature'), RAW.subarray(SIGNATURE));
    const verify = (namespace: string, message: Uint8Array): Promise<string> => {
      const words = ['-Y', 'verify', '-n', namespace, '-I', 'staging', '-f', 'allowed', '-s', 'signature'];
      const running = promisify(execFile)('ssh-keygen', words, { cwd: directory });
      running.child.stdin?.end(message);
      return running.then(({ stdout }) => stdout);
    };
    const payload = RAW.subarray(0, SIGNATURE);
    assert.match(await verify(NOTES_NAMESPACE, payload), /^Good "kubelet-gitops-notes" signature for staging/);
    await assert.rejects(verify('git', payload));
    await assert.rejects(verify(NOTES_NAMESPACE, payload.subarray(1)));
  });
});
