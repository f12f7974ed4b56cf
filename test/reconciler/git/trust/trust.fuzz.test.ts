import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { readAllowedSigners } from '#reconciler/git/trust/allowed-signers.ts';
import { createCommitTrust } from '#reconciler/git/trust/commit-trust.ts';
import { splitCommit } from '#reconciler/git/trust/signed-commit.ts';
import { readSshKey } from '#reconciler/git/trust/ssh-key.ts';
import { WireError, wireString } from '#reconciler/git/trust/ssh-wire.ts';
import { verifySsh } from '#reconciler/git/trust/verify-ssh.ts';
import { sha } from './tokens.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const point = (key: KeyObject): Buffer => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
const blob = Buffer.concat([wireString('ssh-ed25519'), wireString(point(publicKey))]);
const payload = Buffer.from('tree x\n\nA commit\n');

function armoured(bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,70}/g) ?? [];
  return `-----BEGIN SSH SIGNATURE-----\n${lines.join('\n')}\n-----END SSH SIGNATURE-----\n`;
}

function signature(message = payload, namespace = 'git'): Buffer {
  const parts = [namespace, '', 'sha512', sha('sha512', message)].map(wireString);
  const made = sign(null, Buffer.concat([Buffer.from('SSHSIG'), ...parts]), privateKey);
  const wrapped = Buffer.concat([wireString('ssh-ed25519'), wireString(made)]);
  const version = Buffer.from([0, 0, 0, 1]);
  const fields = [wireString(blob), ...parts.slice(0, 3), wireString(wrapped)];
  return Buffer.concat([Buffer.from('SSHSIG'), version, ...fields]);
}

const AT = { stated: 0, seen: 0 };
const signers = readAllowedSigners(`ada@example.com ssh-ed25519 ${blob.toString('base64')}\n`).signers;

describe('whatever stands in the place of a signature', () => {
  it('is trusted as it was made, and with not a bit turned over', () => {
    const right = signature();
    assert.equal(verifySsh(payload, armoured(right), signers, AT).verdict, 'trusted');
    for (let bit = 0; bit < right.length * 8; bit += 1) {
      const wrong = Buffer.from(right);
      wrong[bit >> 3] = (wrong[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.equal(verifySsh(payload, armoured(wrong), signers, AT).verdict, 'untrusted', `bit ${bit}`);
    }
  });

  it('breaks nothing and is not trusted: any bytes, cut ends, glued ends', () => {
    const right = signature();
    const cut = fc.nat(right.length - 1).map((length) => right.subarray(0, length));
    const glued = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((more) => Buffer.concat([right, more]));
    const spliced = fc
      .tuple(fc.nat(right.length), fc.uint8Array({ minLength: 1, maxLength: 12 }))
      .map(([at, more]) => Buffer.concat([right.subarray(0, at), more, right.subarray(at)]));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), cut, glued, spliced), (bytes) => {
        assert.equal(verifySsh(payload, armoured(bytes), signers, AT).verdict, 'untrusted');
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        assert.equal(verifySsh(payload, text, signers, AT).verdict, 'untrusted');
      }),
    );
  });

  it('in any commit breaks nothing, and is never trusted without a key', async () => {
    const trust = createCommitTrust({
      keys: () => Promise.resolve({ ssh: signers, openPgp: [], unusable: [] }),
      clock: systemClock,
      log: silentLog,
    });
    const part = fc.oneof(
      fc.constantFrom(
        'gpgsig ',
        'gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ',
        'gpgsig -----BEGIN SSH SIGNATURE-----\n ',
        ' -----END SSH SIGNATURE-----\n',
        ' -----END PGP SIGNATURE-----\n',
        'committer A <a@b> 1 +0000\n',
        '\n',
        '\n\n',
        'gpgsig-sha256 x\n y\n',
      ),
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.base64String({ maxLength: 200 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
        const { verdict } = await trust.judge({ oid: 'x', raw: Buffer.from(parts.join('')) });
        assert.ok(verdict === 'unsigned' || verdict === 'untrusted', verdict);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is taken out of the commit, and nothing else is', () => {
    const line = fc
      .string({ unit: 'grapheme-ascii', maxLength: 30 })
      .map((text) => text.replace(/^gpgsig/, 'x') || 'x');
    const header = line.map((text) => text.replace(/^ +/, 'x') || 'x');
    const lines = fc.array(header, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        lines,
        fc.array(line, { minLength: 1, maxLength: 4 }),
        fc.nat(6),
        line,
        (headers, inside, at, message) => {
          const plain = `${headers.join('\n')}\n\n${message}`;
          const signed = [...headers.slice(0, at), `gpgsig ${inside.join('\n ')}`, ...headers.slice(at)];
          const split = splitCommit(Buffer.from(`${signed.join('\n')}\n\n${message}`));
          assert.ok(split.signed);
          assert.equal(split.payload.toString(), plain);
          assert.equal(split.signature, `${inside.join('\n')}\n`);
          assert.equal(splitCommit(Buffer.from(plain)).signed, false);
        },
      ),
    );
  });
});

describe('whatever stands in a file of signers', () => {
  it('breaks nothing, and lets in only who is named in full', () => {
    const words = fc.constantFrom(
      'ada@example.com',
      'ssh-ed25519',
      'ssh-rsa',
      'namespaces="git"',
      'namespaces="',
      'valid-before="20200101"',
      '"',
      '\\',
      ',',
      '#',
      ' ',
      '\n',
      blob.toString('base64').slice(0, 20),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string({ maxLength: 10 })), { maxLength: 20 }), (parts) => {
        assert.deepEqual(readAllowedSigners(parts.join(' ')).signers, []);
      }),
      { numRuns: 2_000 },
    );
  });

  it('breaks nothing as a key', () => {
    const prefix = fc.constantFrom('ssh-ed25519', 'ssh-rsa', 'ecdsa-sha2-nistp256', 'sk-ssh-ed25519@openssh.com', '');
    fc.assert(
      fc.property(prefix, fc.array(fc.uint8Array({ maxLength: 80 }), { maxLength: 4 }), (type, fields) => {
        try {
          readSshKey(Buffer.concat([wireString(type), ...fields.map(wireString)]));
        } catch (error) {
          assert.ok(error instanceof WireError, String(error));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
