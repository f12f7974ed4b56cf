import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readSshKey } from '#reconciler/git/trust/ssh-key.ts';
import { wireString } from '#reconciler/git/trust/ssh-wire.ts';
import { verifySsh } from '#reconciler/git/trust/verify-ssh.ts';
import { WITHOUT_SSH } from './signing.ts';
import { ecdsaToken, ed25519Token, sha, type Token } from './tokens.ts';

const data = Buffer.from('what is signed');

/** The token's signature over a commit, armoured. */
function sshsig(token: Token, message: Buffer, flags: number): string {
  const parts = ['git', '', 'sha512', sha('sha512', message)].map(wireString);
  const signature = token.sign(Buffer.concat([Buffer.from('SSHSIG'), ...parts]), flags);
  const head = Buffer.concat([Buffer.from('SSHSIG'), Buffer.from([0, 0, 0, 1]), wireString(token.blob)]);
  const lines = Buffer.concat([head, ...parts.slice(0, 3), wireString(signature)])
    .toString('base64')
    .match(/.{1,70}/g);
  return `-----BEGIN SSH SIGNATURE-----\n${(lines ?? []).join('\n')}\n-----END SSH SIGNATURE-----\n`;
}

describe('the key of a security token', () => {
  for (const [name, make] of [
    ['Ed25519', ed25519Token],
    ['ECDSA', ecdsaToken],
  ] as const) {
    it(`(${name}) signs where it was touched`, () => {
      const token = make();
      const key = readSshKey(token.blob);
      for (let n = 0; n < 20; n += 1) {
        assert.equal(key.verifies(data, token.sign(data, 1)), true);
        assert.equal(key.verifies(data, token.sign(data, 5)), true);
      }
      assert.equal(key.verifies(data, token.sign(data, 0)), false, 'nobody was there');
      assert.equal(key.verifies(Buffer.from('something else'), token.sign(data, 1)), false);
      assert.equal(make().blob.equals(token.blob), false);
      assert.equal(readSshKey(make().blob).verifies(data, token.sign(data, 1)), false);
    });

    it(`(${name}) is judged as ssh-keygen judges it`, { skip: WITHOUT_SSH }, () => {
      const token = make();
      const directory = mkdtempSync(join(tmpdir(), 'token-'));
      try {
        const signature = sshsig(token, data, 1);
        const line = `ada@example.com ${token.type} ${token.blob.toString('base64')}\n`;
        writeFileSync(join(directory, 'signers'), line);
        writeFileSync(join(directory, 'signature'), signature);
        const flags = ['-Y', 'verify', '-n', 'git', '-I', 'ada@example.com', '-f', 'signers', '-s', 'signature'];
        const said = execFileSync('ssh-keygen', flags, { cwd: directory, input: data, encoding: 'utf8' });
        assert.match(said, /^Good "git" signature/);
        const signers = [{ principals: 'ada@example.com', keyBlob: token.blob }];
        assert.equal(verifySsh(data, signature, signers, { stated: 0, seen: 0 }).verdict, 'trusted');
      } finally {
        rmSync(directory, { recursive: true });
      }
    });
  }
});

describe('an RSA key', () => {
  const rsaBlob = (modulusLength: number) => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength });
    const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
    const integer = (text: string): Buffer => {
      const bytes = Buffer.from(text, 'base64url');
      return (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
    };
    return { privateKey, blob: Buffer.concat(['ssh-rsa', integer(e), integer(n)].map(wireString)) };
  };

  it('signs with SHA-256 and SHA-512, and never with SHA-1', () => {
    const { privateKey, blob } = rsaBlob(2048);
    const key = readSshKey(blob);
    const made = (name: string, hash: string): Buffer =>
      Buffer.concat([name, sign(hash, data, privateKey)].map(wireString));
    assert.equal(key.verifies(data, made('rsa-sha2-256', 'sha256')), true);
    assert.equal(key.verifies(data, made('rsa-sha2-512', 'sha512')), true);
    assert.equal(key.verifies(data, made('ssh-rsa', 'sha1')), false);
    assert.equal(key.verifies(data, made('rsa-sha2-512', 'sha256')), false);
    assert.equal(key.verifies(data, made('toString', 'sha256')), false);
  });

  it('of less than 2048 bits is no key', () => {
    assert.throws(() => readSshKey(rsaBlob(1024).blob), /shorter than 2048 bits/);
  });
});

describe('a key of another type', () => {
  for (const type of ['ssh-dss', 'ssh-ed25519-cert-v01@openssh.com', 'ssh-unheard-of', 'a\u001b[2Jb']) {
    it(`${JSON.stringify(type)} is not supported`, () => {
      assert.throws(() => readSshKey(Buffer.concat([type, 'x'].map(wireString))), /^WireError|which is not supported/);
    });
  }
});
