import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { NotificationError } from '#reconciler/reporting/notifications/errors.ts';
import {
  createNotifier,
  type NotificationOutcome,
  type Notifier,
} from '#reconciler/reporting/notifications/notifier.ts';
import type { Receiver } from '#reconciler/reporting/notifications/receivers.ts';
import type { SendNotification } from '#reconciler/reporting/notifications/send-notification.ts';
import { readTold } from '#reconciler/reporting/notifications/told-record.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts';
import { halt, impact, NOW, pool, receiver, source } from './support.ts';

const SECOND = 1_000;
/** What a receiver answers: nothing for all is well. */
type Answer = NotificationError | 'hangs' | undefined;

interface Process {
  readonly notifier: Notifier;
  /** `<receiver> <title>` */
  readonly sent: readonly string[];
  readonly outcomes: readonly string[];
  readonly changes: () => number;
  /** One pass that saves what it says. @returns the record */
  pass(record: string, pools: readonly KubeletPool[]): string;
  end(): Promise<void>;
}

function begin(
  clock: ManualClock,
  receivers: readonly Receiver[],
  {
    answer = () => undefined,
    isLeader = () => true,
  }: { answer?: (name: string, title: string) => Answer; isLeader?: () => boolean } = {},
): Process {
  const sent: string[] = [];
  const outcomes: string[] = [];
  const hanging: (() => void)[] = [];
  let changes = 0;
  const send: SendNotification = async ({ name }, { notification }) => {
    const said = answer(name, notification.title);
    if (said === 'hangs') await new Promise<void>((resolve) => hanging.push(resolve));
    else if (said !== undefined) throw said;
    sent.push(`${name} ${notification.title}`);
  };
  const notifier = createNotifier({
    receivers,
    send,
    isLeader,
    clock,
    log: silentLog,
    random: () => 0,
    onOutcome: (name: string, outcome: NotificationOutcome) => outcomes.push(`${name} ${outcome}`),
    onChange: () => (changes += 1),
  });
  const stop = new AbortController();
  const running = notifier.run(stop.signal);
  return {
    notifier,
    sent,
    outcomes,
    changes: () => changes,
    pass(record, pools) {
      const next = notifier.next(record, { source: source(), pools, now: NOW, isRead: true }, () => true);
      notifier.saved(next);
      return next;
    },
    async end() {
      stop.abort();
      for (const over of hanging) over();
      await clock.advance(0);
      await running;
    },
  };
}

const halted = (name: string, at = NOW): KubeletPool =>
  pool({ halt: halt({ at: toTimestamp(at) }), impact: impact('none') }, { name });
const title = (name: string): string => `Pool ${name} is halted, and at rest`;
const refusal = (code: NotificationError['code']): NotificationError => new NotificationError(code, 'no');
const CHAT = receiver();
const PAGER = receiver({ name: 'pager' });

describe('the notifier', () => {
  it('sends only what is in a record that was saved', async () => {
    const clock = createManualClock();
    const process = begin(clock, [CHAT]);
    const record = process.notifier.next(
      '',
      { source: source(), pools: [halted('web')], now: NOW, isRead: true },
      () => true,
    );
    await clock.advance(3_600 * SECOND);
    assert.deepEqual(process.sent, []);
    process.notifier.saved(record);
    await clock.advance(60 * SECOND);
    assert.deepEqual(process.sent, [`chat ${title('web')}`]);
    assert.equal(process.changes(), 1);
    // The next record no longer owes it.
    assert.deepEqual(readTold(process.pass(record, [halted('web')]))?.owed, []);
    await process.end();
  });

  it('tells nothing while another one leads', async () => {
    const clock = createManualClock();
    let leads = false;
    const process = begin(clock, [CHAT], { isLeader: () => leads });
    const record = process.pass('', [halted('web')]);
    await clock.advance(3_600 * SECOND);
    assert.deepEqual(process.sent, []);
    leads = true;
    process.notifier.saved(record);
    await clock.advance(60 * SECOND);
    assert.equal(process.sent.length, 1);
    await process.end();
  });

  it('stops where the lead is lost between two messages', async () => {
    const clock = createManualClock();
    let leads = true;
    const process = begin(clock, [CHAT], { isLeader: () => leads });
    process.pass(
      '',
      ['a', 'b', 'c', 'd', 'e'].map((name) => halted(name)),
    );
    await clock.advance(SECOND / 2);
    leads = false;
    await clock.advance(3_600 * SECOND);
    assert.equal(process.sent.length, 3);
    await process.end();
  });

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

  it('sends a burst of three, then one a second', async () => {
    const clock = createManualClock();
    const at: number[] = [];
    const process = begin(clock, [CHAT], { answer: () => void at.push(clock.monotonic()) });
    process.pass(
      '',
      ['a', 'b', 'c', 'd', 'e'].map((name) => halted(name)),
    );
    await clock.advance(60 * SECOND);
    assert.deepEqual(at, [0, 0, 0, SECOND, 2 * SECOND]);
    await process.end();
  });

  it('does not send again what was taken while the record was being written', async () => {
    const clock = createManualClock();
    const process = begin(clock, [CHAT]);
    const seen = { source: source(), pools: [halted('web')], now: NOW, isRead: true };
    const record = process.notifier.next('', seen, () => true);
    process.notifier.saved(record);
    // Another pass has decided by what was owed then, and is slow to write it.
    const slow = process.notifier.next(record, seen, () => true);
    await clock.advance(10 * SECOND);
    process.notifier.saved(slow);
    await clock.advance(60 * SECOND);
    assert.equal(process.sent.length, 1);
    assert.deepEqual(readTold(process.pass(slow, [halted('web')]))?.owed, []);
    await process.end();
  });

  it('tells each time that somebody suspends a pool in the same words, and not again after a restart', async () => {
    const clock = createManualClock();
    const suspended = pool({}, { annotations: { [SUSPEND_ANNOTATION]: 'incident 7' } });
    const first = begin(clock, [CHAT]);
    let record = first.pass(first.pass('', []), [suspended]);
    await clock.advance(10 * SECOND);
    await first.end();
    record = first.notifier.atEnd(record);
    const second = begin(clock, [CHAT]);
    record = second.pass(record, [suspended]);
    await clock.advance(10 * SECOND);
    assert.deepEqual([first.sent.length, second.sent.length], [1, 0]);
    record = second.pass(record, [pool({})]);
    second.pass(record, [suspended]);
    await clock.advance(10 * SECOND);
    assert.deepEqual(second.sent, ['chat Pool web is suspended']);
    await second.end();
  });

  it('leaves what was taken at the last moment out of the last record', async () => {
    const clock = createManualClock();
    const process = begin(clock, [CHAT]);
    const record = process.pass('', [halted('web')]);
    await clock.advance(SECOND);
    await process.end();
    assert.deepEqual(readTold(process.notifier.atEnd(record))?.owed, []);
    assert.equal(process.notifier.atEnd(''), '');
  });

  it('tells everything at least once, and twice only after a lost write, whatever restarts and takeovers there are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 60 }), async (steps) => {
        await playStory(steps);
      }),
      { numRuns: 150 },
    );
  });
});

type Step =
  | { readonly do: 'halt'; readonly pool: number }
  /** A person lets a pool go on, which ends what there is to tell of it. */
  | { readonly do: 'release'; readonly pool: number }
  | { readonly do: 'pass' }
  /** The API server does not take the record. */
  | { readonly do: 'pass, not saved' }
  | { readonly do: 'time' }
  | { readonly do: 'receiver'; readonly is: 'down' | 'up' }
  | { readonly do: 'restart' }
  /** It ends without a word, and what was taken since its last pass is lost. */
  | { readonly do: 'kill' };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('halt' as const), pool: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), pool: fc.nat({ max: 3 }) }) },
  { weight: 4, arbitrary: fc.constant({ do: 'pass' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'pass, not saved' } as const) },
  { weight: 4, arbitrary: fc.constant({ do: 'time' } as const) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('receiver' as const), is: fc.constantFrom('down', 'up') }) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'kill' } as const) },
);

async function playStory(steps: readonly Step[]): Promise<void> {
  const clock = createManualClock(NOW);
  const told: string[] = [];
  let isDown = false;
  /** What stands in the cluster. */
  let record = '';
  /** Sent by a process that was killed before it could say so. */
  const lost = new Set<string>();
  let unsaved = new Set<string>();
  const pools = new Map<string, KubeletPool>();
  const happened = new Set<string>();
  const start = (): Process =>
    begin(clock, [CHAT], {
      answer: (_, what) => {
        if (isDown) return refusal('NOTIFICATION_UNREACHABLE');
        told.push(what);
        unsaved.add(what);
        return undefined;
      },
    });
  let process = start();
  let count = 0;
  /** Each halt has a title of its own. */
  const haltOf = (n: number): KubeletPool => halted(`p${n}-${(count += 1)}`, clock.now());

  const pass = (isSaved: boolean): void => {
    const seen = { source: source(), pools: [...pools.values()], now: clock.now(), isRead: true };
    const next = process.notifier.next(record, seen, () => true);
    if (!isSaved) return;
    record = next;
    process.notifier.saved(next);
    unsaved = new Set();
    for (const { metadata } of pools.values()) happened.add(title(metadata.name));
  };

  for (const step of steps) {
    if (step.do === 'halt') pools.set(String(step.pool), haltOf(step.pool));
    if (step.do === 'release') pools.delete(String(step.pool));
    if (step.do === 'pass') pass(true);
    if (step.do === 'pass, not saved') pass(false);
    if (step.do === 'time') await clock.advance(20 * SECOND);
    if (step.do === 'receiver') isDown = step.is === 'down';
    if (step.do === 'restart') {
      await process.end();
      record = process.notifier.atEnd(record);
      unsaved = new Set();
      process = start();
    }
    if (step.do === 'kill') {
      for (const what of unsaved) lost.add(what);
      unsaved = new Set();
      await process.end();
      process = start();
    }
  }
  isDown = false;
  for (let round = 0; round < 5; round += 1) {
    pass(true);
    await clock.advance(20 * 60 * SECOND);
  }
  await process.end();
  for (const what of happened) assert.ok(told.includes(what), `${what} was never told: ${JSON.stringify(told)}`);
  for (const what of told) {
    const times = told.filter((each) => each === what).length;
    if (times > 1) assert.ok(lost.has(what), `${what} was told ${times} times without a lost write`);
  }
}
