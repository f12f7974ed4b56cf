import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { fileSecrets } from '#reconciler/git/webhook/webhook-secrets.ts';
import { serveWebhook } from '#reconciler/git/webhook/server.ts';
import { without } from '../support/required-tools.ts';

const PAGE = readFileSync('docs/webhook.md', 'utf8');
const MISSING =
  without('openssl', ['version'], 'nothing proves that the page’s script signs as the reconciler wants it') ||
  without('curl', ['--version'], 'nothing proves that the page’s script is let in');

describe('the page about the webhook', () => {
  it('has a script that is let in', { skip: MISSING }, async (t) => {
    const script = /## From anything else[\s\S]*?```sh\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? '';
    const directory = await mkdtemp(join(tmpdir(), 'webhook-page-'));
    const file = join(directory, 'secret');
    // As `openssl rand -hex 32 > secret` leaves it.
    await writeFile(file, `${'0123456789abcdef'.repeat(4)}\n`);
    let pushes = 0;
    const server = await serveWebhook({
      port: 0,
      host: '127.0.0.1',
      branch: 'main',
      secrets: fileSecrets(file),
      onPush: () => (pushes += 1),
      clock: systemClock,
      log: silentLog,
    });
    t.after(async () => {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    });
    const here = script.replace('https://gitops.example.com', `http://127.0.0.1:${server.port}`);
    const { stdout } = await promisify(execFile)('sh', ['-euc', here], { cwd: directory });
    assert.equal(stdout, 'looking\n');
    assert.equal(pushes, 1);
  });
});
