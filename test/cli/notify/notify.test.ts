import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { startChannels } from '../../support/notified.ts';
import { run, runIn } from '../support/run.ts';

describe('kubelet-gitops notify', () => {
  it('sends each receiver a message that says it is a test, and what else it will get', async () => {
    await using channels = await startChannels({ kinds: ['halted', 'refused'], severity: 'warning', pools: ['gpu-*'] });
    const { code, out, err } = await run('notify', channels.file, '--cluster', 'prod');
    assert.deepEqual([code, err], [0, '']);
    assert.equal(out, 'chat: sent\nprograms: sent\n');
    const [chat] = channels.slack;
    assert.deepEqual(String(chat?.body['text']).replaceAll('\u200b', '').split('\n'), [
      '*[info] prod: This is a test*',
      '• kubelet-gitops reaches the receiver chat; nothing has happened',
      '• it hears of halted and refused, from warning on, of pools named gpu-*',
      '• runbook: <https://git.example.com/platform/kubelet-gitops/blob/main/docs/runbooks/KubeletGitopsNotificationsNotSent.md>',
    ]);
    const [event] = channels.events;
    assert.ok(event !== undefined);
    assert.deepEqual([event.isGenuine, event.body['type']], [true, 'dev.kubelet-gitops.test']);
    const { lines } = event.body['data'] as { readonly lines: readonly string[] };
    assert.equal(lines[1], 'it hears of everything');
  });

  it('says which receiver does not take it and why, and asks the others all the same', async () => {
    await using channels = await startChannels();
    Object.assign(channels.answers, { slack: 400 });
    const { code, out } = await run('notify', channels.file);
    assert.equal(code, 1);
    assert.match(
      out,
      /^chat: NOTIFICATION_REFUSED: the receiver chat at 127\.0\.0\.1:\d+ does not take this message \(status 400\)\n/,
    );
    assert.match(out, /\nprograms: sent\n$/);
    assert.doesNotMatch(out, /secret-part/);
    await rm(join(dirname(channels.file), 'slack-url'));
    assert.match((await run('notify', channels.file)).out, /^chat: NOTIFICATION_SECRET_UNUSABLE: .*slack-url.*ENOENT/);
  });

  it('sends to the named receivers alone, and to none that there is not', async () => {
    await using channels = await startChannels();
    assert.equal((await run('notify', channels.file, '--receiver', 'programs')).out, 'programs: sent\n');
    const { code, err } = await run('notify', channels.file, '--receiver', 'pager');
    assert.equal(code, 2);
    assert.match(err, /no receiver is called pager: there are chat, programs/);
    assert.deepEqual([channels.slack.length, channels.events.length], [0, 1]);
  });

  it('sends nothing where the file has mistakes, and says all of them', async () => {
    await using channels = await startChannels();
    await writeFile(channels.file, 'kind: NotificationReceivers\nspec:\n  receivers: []\n');
    const { code, err } = await run('notify', channels.file);
    assert.equal(code, 2);
    assert.match(err, /apiVersion[^]*receivers/);
  });

  it('goes through the proxy of its environment', async () => {
    await using channels = await startChannels();
    const { code, err } = await runIn({ HTTPS_PROXY: 'gopher://proxy' }, ['notify', channels.file]);
    assert.equal(code, 2);
    assert.match(err, /HTTPS_PROXY is not the address of a proxy/);
  });

  it('is what the reconciler does in its place, with its own settings', async () => {
    await using channels = await startChannels();
    const env = {
      ...process.env,
      CLUSTER: 'prod',
      GIT_URL: 'https://git.example.com/x.git',
      NOTIFICATIONS_FILE: channels.file,
    };
    const program = spawn(process.execPath, ['reconciler/main.ts', 'notify'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(program, 'exit');
    assert.equal(await text(program.stdout), 'chat: sent\nprograms: sent\n');
    assert.deepEqual(await ended, [0, null]);
    assert.match(String(channels.slack[0]?.body['text']), /^\*\[info\] prod: This is a test\*/);
  });
});
