import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NotificationError } from '#reconciler/reporting/notifications/errors.ts';
import { readTold } from '#reconciler/reporting/notifications/told-record.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { type Answer, begin, CHAT, halted, PAGER, refusal, SECOND, title } from './notifier-process.ts';

describe('the notifier, where a receiver fails', () => {
  it('tries again, ever more rarely, and says meanwhile of whom and why', async () => {
    const clock = createManualClock();
    let isDown = true;
    const tries: number[] = [];
    const answer = (): Answer => {
      tries.push(clock.monotonic());
      return isDown ? new NotificationError('NOTIFICATION_UNREACHABLE', 'no answer from chat.example.com') : undefined;
    };
    const process = begin(clock, [CHAT], { answer });
    process.pass('', [halted('web')]);
    await clock.advance(40 * 60 * SECOND);
    assert.deepEqual(
      tries.map((at) => Math.round(at / SECOND)),
      [0, 5, 15, 35, 75, 155, 315, 635, 1_235, 1_835],
    );
    assert.equal(process.notifier.state(), 'off: chat: no answer from chat.example.com');
    assert.deepEqual(process.notifier.receivers(), [
      { name: 'chat', waiting: 1, failure: 'no answer from chat.example.com' },
    ]);
    isDown = false;
    await clock.advance(10 * 60 * SECOND);
    assert.deepEqual(process.sent, [`chat ${title('web')}`]);
    assert.equal(process.notifier.state(), 'on');
    assert.deepEqual([process.outcomes.at(0), process.outcomes.at(-1)], ['chat failed', 'chat sent']);
    await process.end();
  });

  it('waits as long as a receiver asks', async () => {
    const clock = createManualClock();
    const tries: number[] = [];
    const answer = (): Answer => {
      tries.push(clock.monotonic());
      return tries.length > 1
        ? undefined
        : new NotificationError('NOTIFICATION_THROTTLED', 'slower', { disposition: { kind: 'wait', ms: 90 * SECOND } });
    };
    const process = begin(clock, [CHAT], { answer });
    process.pass('', [halted('web')]);
    await clock.advance(200 * SECOND);
    assert.deepEqual(tries, [0, 90 * SECOND]);
    await process.end();
  });

  it('gives up what a receiver does not take once it has taken another, and goes on with the next', async () => {
    const clock = createManualClock();
    const answer = (_: string, what: string): Answer =>
      what === title('a') ? refusal('NOTIFICATION_REFUSED') : undefined;
    const process = begin(clock, [CHAT], { answer });
    const record = process.pass('', [halted('a'), halted('b')]);
    await clock.advance(60 * SECOND);
    assert.deepEqual(process.sent, [`chat ${title('b')}`]);
    assert.deepEqual(process.outcomes, ['chat failed', 'chat sent', 'chat refused']);
    assert.equal(process.notifier.state(), 'on');
    assert.deepEqual(readTold(process.pass(record, [halted('a'), halted('b')]))?.owed, []);
    await process.end();
  });

  it('loses nothing to a receiver that takes no message at all, and says so', async () => {
    const clock = createManualClock();
    let takes = false;
    const process = begin(clock, [CHAT], {
      answer: () => (takes ? undefined : new NotificationError('NOTIFICATION_REFUSED', 'takes no such message')),
    });
    const record = process.pass('', [halted('a'), halted('b')]);
    await clock.advance(3_600 * SECOND);
    assert.deepEqual(process.sent, []);
    assert.equal(process.notifier.state(), 'off: chat: takes no such message');
    assert.equal(readTold(process.pass(record, [halted('a'), halted('b')]))?.owed.length, 2);
    takes = true;
    await clock.advance(15 * 60 * SECOND);
    assert.deepEqual(new Set(process.sent), new Set([`chat ${title('a')}`, `chat ${title('b')}`]));
    await process.end();
  });

  for (const code of ['NOTIFICATION_REFUSED', 'NOTIFICATION_SERVER_ERROR', 'NOTIFICATION_UNREACHABLE'] as const) {
    it(`sends past messages that a receiver fails at for ever: ${code}`, async () => {
      const clock = createManualClock();
      const fatal = [title('a'), title('b')];
      const answer = (_: string, what: string): Answer => (fatal.includes(what) ? refusal(code) : undefined);
      const process = begin(clock, [CHAT], { answer });
      let record = process.pass('', [halted('a'), halted('b'), halted('c')]);
      await clock.advance(15 * 60 * SECOND);
      assert.deepEqual(process.sent, [`chat ${title('c')}`]);
      // Nor does the next wait for these two, which are tried ever more rarely.
      await clock.advance(3_600 * SECOND);
      record = process.pass(record, [halted('a'), halted('b'), halted('c'), halted('d')]);
      await clock.advance(2 * SECOND);
      assert.deepEqual(process.sent, [`chat ${title('c')}`, `chat ${title('d')}`]);
      await process.end();
    });
  }

  it('tells in the order in which it happened after a short outage, and is not hurried by passes', async () => {
    const clock = createManualClock();
    const tries: number[] = [];
    let isDown = true;
    const answer = (): Answer => {
      tries.push(clock.monotonic() / SECOND);
      return isDown ? refusal('NOTIFICATION_SERVER_ERROR') : undefined;
    };
    const process = begin(clock, [CHAT], { answer });
    let record = process.pass('', [halted('a'), halted('b')]);
    for (let at = 0; at < 60; at += 1) {
      await clock.advance(SECOND);
      record = process.pass(record, [halted('a'), halted('b')]);
    }
    assert.ok(tries.length < 6, tries.join());
    isDown = false;
    await clock.advance(60 * SECOND);
    assert.deepEqual(process.sent, [`chat ${title('a')}`, `chat ${title('b')}`]);
    await process.end();
  });

  it('tells in order after a long outage as well, but for the one message that finds its end', async () => {
    for (const minutes of [20, 45, 90, 130, 200]) {
      const clock = createManualClock();
      let isDown = true;
      const answer = (): Answer => (isDown ? refusal('NOTIFICATION_UNREACHABLE') : undefined);
      const process = begin(clock, [CHAT], { answer });
      const all = ['a', 'b', 'c', 'd', 'e'];
      process.pass(
        '',
        all.map((name) => halted(name)),
      );
      await clock.advance(minutes * 60 * SECOND);
      isDown = false;
      await clock.advance(20 * 60 * SECOND);
      const [first, ...others] = process.sent;
      const expected = all.map((name) => `chat ${title(name)}`);
      assert.ok(first !== undefined && expected.includes(first));
      assert.deepEqual(
        others,
        expected.filter((each) => each !== first),
        `after ${minutes} minutes`,
      );
      await process.end();
    }
  });

  it('keeps nobody waiting for a receiver that hangs', async () => {
    const clock = createManualClock();
    const process = begin(clock, [CHAT, PAGER], { answer: (name) => (name === 'chat' ? 'hangs' : undefined) });
    process.pass('', [halted('a'), halted('b')]);
    await clock.advance(60 * SECOND);
    assert.deepEqual(process.sent, [`pager ${title('a')}`, `pager ${title('b')}`]);
    await process.end();
  });
});
