import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { it, type TestContext } from 'node:test';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GitopsError } from '#shared/runtime/errors.ts';
import { readSigningKey, signingKeyIn } from '#reconciler/git/trust/signing-key.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { WITHOUT_SSH } from './signing.ts';

const run = promisify(execFile);

async function made(t: TestContext, ...options: readonly string[]): Promise<string> {
  const file = join(temporaryDirectory(t), 'key');
  await run('ssh-keygen', ['-q', '-f', file, ...options]);
  return file;
}

describeOrSkip('a key for notes', { skip: WITHOUT_SSH }, () => {
  it('signs as ssh-keygen does, to the byte', async (t) => {
    const file = await made(t, '-t', 'ed25519', '-N', '', '-C', 'staging');
    const message = join(file, '..', 'message');
    await writeFile(message, 'hello\n');
    await run('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'some-thing', '-f', file, message]);
    const key = await signingKeyIn(file);
    assert.equal(key.sign(Buffer.from('hello\n'), 'some-thing'), await readFile(`${message}.sig`, 'utf8'));
    assert.equal(`${key.publicLine} staging\n`, await readFile(`${file}.pub`, 'utf8'));
  });

  it('may be in PKCS #8', () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' });
    assert.match(readSigningKey(String(pem)).publicLine, /^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-P]\S{42}$/);
  });

  it('of another kind is refused with what to do, and nothing of it is told', async (t) => {
    const locked = await made(t, '-t', 'ed25519', '-N', 'cnry-phrase-Vn3kTq8');
    const rsa = await made(t, '-t', 'rsa', '-b', '2048', '-N', '');
    const old = await made(t, '-t', 'rsa', '-b', '2048', '-N', '', '-m', 'PEM');
    const good = await made(t, '-t', 'ed25519', '-N', '');
    const cut = join(good, '..', 'cut');
    await writeFile(cut, (await readFile(good, 'utf8')).replace(/\n.{70}\n/, '\n'));
    const rows = [
      [locked, /passphrase/],
      [rsa, /ed25519/],
      [old, /ed25519/],
      [cut, /\S/],
      [`${good}.pub`, /not a private key/],
      [join(good, 'gone'), /cannot be read \(ENOTDIR\)/],
    ] as const;
    for (const [file, why] of rows) {
      await assert.rejects(signingKeyIn(file), (error) => {
        assert.ok(error instanceof GitopsError && error.code === 'SIGNING_KEY_UNUSABLE', String(error));
        assert.match(error.message, why);
        assert.match(error.message, /NOTES_SIGNING_KEY_PATH is .*ssh-keygen -t ed25519/);
        return true;
      });
      const lines = await readFile(file, 'utf8').catch(() => '');
      const said = await signingKeyIn(file).catch(String);
      for (const line of lines.split('\n').filter((each) => each.length > 40))
        assert.ok(!JSON.stringify(said).includes(line));
    }
  });
});
