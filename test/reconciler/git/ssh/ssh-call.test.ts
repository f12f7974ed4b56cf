import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '#shared/runtime/clock.ts';
import { withRequestDeadlines } from '#reconciler/git/request-deadlines.ts';
import { callSsh, type SshAnswer, type SshCall } from '#reconciler/git/ssh/ssh-call.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { failsWith, PATIENT, soon } from '../support/start.ts';

/** Runs a script in the place of ssh. */
function call(script: string, more: Partial<SshCall> = {}): Promise<SshAnswer> {
  const limits = { ...DEFAULT_GIT_LIMITS, ...PATIENT };
  const deadline = systemClock.monotonic() + limits.totalMs;
  const options = { clock: systemClock, limits, deadline, what: 'it', signal: soon() };
  const args = ['-c', script];
  return withRequestDeadlines(options, (patience) =>
    callSsh(
      {
        program: 'sh',
        args,
        version: 0,
        body: Buffer.from('wanted'),
        maxGreetingBytes: 100,
        maxBytes: 100,
        shown: 'it',
        ...more,
      },
      patience,
    ),
  );
}

describe('a command over ssh', () => {
  it('hears what is wanted after its greeting, and its answer is told from that', async () => {
    const { greeting, body } = await call('printf 0008abcd0000; cat');
    assert.equal(greeting.toString(), '0008abcd0000');
    assert.equal(body.toString(), 'wanted');
  });

  it('that answers without end is given up', async () => {
    await assert.rejects(call('printf 0000; exec yes'), failsWith('GIT_TOO_BIG', /more than the 100 bytes/));
  });

  it('is ended when the head of its answer is enough', async () => {
    let heard = '';
    const take = (chunk: Buffer): boolean => (heard += chunk.toString()).length >= 8;
    const { body } = await call('printf 0000; printf 0008; read -r _; printf NAKx; exec sleep 600', {
      body: Buffer.from('wanted\n'),
      take,
    });
    assert.equal(heard, '0008NAKx');
    assert.equal(body.length, 0, 'and nothing of it is held');
  });
});
