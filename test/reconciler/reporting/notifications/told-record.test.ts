import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import type { Occurrence } from '#reconciler/reporting/notifications/notification.ts';
import type { Receiver } from '#reconciler/reporting/notifications/receivers.ts';
import {
  MOST_MARKS,
  MOST_OWED,
  nextTold,
  readTold,
  type ToldRecord,
  writeTold,
} from '#reconciler/reporting/notifications/told-record.ts';
import { AT, COMMIT, occurrence, receiver } from './support.ts';

const EMPTY: ToldRecord = { marks: new Map(), owed: [] };
const CHAT = receiver();
/** What the definition of the KubeletSource has room for. */
const LONGEST_RECORD = 524_288;

interface Look {
  readonly before?: ToldRecord | null;
  readonly occurrences: readonly Occurrence[];
  readonly receivers?: readonly Receiver[];
  readonly taken?: Readonly<Record<string, readonly string[]>>;
  readonly isPool?: (name: string) => boolean;
  readonly over?: readonly string[];
}

const look = ({ before = EMPTY, receivers = [CHAT], taken = {}, isPool = () => true, over, occurrences }: Look) =>
  nextTold({
    before,
    occurrences,
    receivers,
    isPool,
    over,
    taken: new Map(Object.entries(taken).map(([id, names]) => [id, new Set(names)])),
  });
const titles = ({ owed }: ToldRecord): readonly string[] => owed.map((each) => each.notification.title);

/** Sends all that is owed. */
const delivered = (record: ToldRecord): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(record.owed.map(({ id, to }) => [id, to]));

describe('the record of what was told', () => {
  it('owes what is news, once, until it was taken', () => {
    const halted = occurrence('web', 'halt 1');
    const first = look({ occurrences: [halted] }).record;
    assert.deepEqual(titles(first), ['Pool web: halt 1']);
    assert.deepEqual(look({ before: first, occurrences: [halted] }).record, first);
    const after = look({ before: first, occurrences: [halted], taken: delivered(first) }).record;
    assert.deepEqual(after.owed, []);
    assert.deepEqual(look({ before: after, occurrences: [halted] }).record.owed, []);
    assert.deepEqual(titles(look({ before: after, occurrences: [occurrence('web', 'halt 2')] }).record), [
      'Pool web: halt 2',
    ]);
  });

  it('owes also what was over before a receiver took it', () => {
    const first = look({ occurrences: [occurrence('web', 'halt 1')] }).record;
    assert.deepEqual(titles(look({ before: first, occurrences: [] }).record), ['Pool web: halt 1']);
  });

  it('does not forget what a look did not show, for as long as there is the pool', () => {
    const halted = occurrence('web', 'halt 1');
    const first = look({ occurrences: [halted] }).record;
    const told = look({ before: first, occurrences: [], taken: delivered(first) }).record;
    assert.deepEqual(look({ before: told, occurrences: [halted] }).record.owed, []);
    const gone = look({ before: told, occurrences: [], isPool: () => false }).record;
    assert.deepEqual([...gone.marks], []);
  });

  it('gives up no pool where hundreds halt a few at a time: what waits is told together', () => {
    let record: ToldRecord = EMPTY;
    const told = new Set<string>();
    const [counts, names] = [new Set<number>(), Array.from({ length: 500 }, (_, index) => `pool-${index}`)];
    for (let from = 0; from < names.length; from += 5) {
      const occurrences = names.slice(0, from + 5).map((name) => occurrence(name, 'halt 1'));
      // The receiver takes one message in that time.
      const [sent] = record.owed;
      const taken = sent === undefined ? {} : { [sent.id]: sent.to };
      const next = look({ before: record, occurrences, taken });
      assert.deepEqual(next.dropped, []);
      record = next.record;
      for (const { notification } of sent === undefined ? [] : [sent]) {
        notification.pools.forEach((name) => told.add(name));
        counts.add(notification.pools.length + notification.morePools);
      }
    }
    const left = record.owed.reduce((sum, { notification: { pools, morePools } }) => sum + pools.length + morePools, 0);
    assert.ok(told.size > 20 && [...counts].reduce((sum, each) => Math.max(sum, each), 0) > 20 && left > 0);
    assert.ok(record.owed.length <= MOST_OWED);
  });

  it('tells only the newest of one pool where too much waits', () => {
    let record: ToldRecord = EMPTY;
    for (let n = 0; n <= MOST_OWED; n += 1)
      ({ record } = look({ before: record, occurrences: [occurrence('web', `${n}`)] }));
    assert.deepEqual(titles(record), [`Pool web: ${MOST_OWED}`]);
  });

  it('says of what was folded twice how many pools there are at most, and what cannot wait', () => {
    const canWait = { answer: 'yes', because: 'all is at rest' } as const;
    const of = (from: number, many: number): readonly Occurrence[] =>
      Array.from({ length: many }, (_, index) => occurrence(`p${from + index}`, 'halt 1', { canWait }));
    let record = look({ occurrences: of(0, 30) }).record;
    for (let round = 1; round <= MOST_OWED; round += 1)
      ({ record } = look({ before: record, occurrences: [...of(0, 30), ...of(30, round)] }));
    const [folded] = record.owed;
    assert.equal(record.owed.length, 1);
    assert.equal(folded?.notification.title, 'up to 54 pools: halted');
    assert.match(folded?.notification.lines[0] ?? '', /^p0, p1, .* and others$/);
    assert.doesNotMatch(folded?.notification.lines[1] ?? '', /p0, p1/);
    assert.equal(folded?.notification.canWait?.because, 'p0: all is at rest');
  });

  it('owes the same once more where it was over meanwhile, as another message', () => {
    const suspended = (at: string): Occurrence => occurrence('web', 'suspended', { kind: 'waits', at });
    const first = look({ occurrences: [suspended(AT)] }).record;
    const told = look({ before: first, occurrences: [suspended(AT)], taken: delivered(first) }).record;
    assert.deepEqual(look({ before: told, occurrences: [], over: ['web/halted'] }).record, told);
    const resumed = look({ before: told, occurrences: [], over: ['web/waits'] }).record;
    assert.deepEqual([...resumed.marks], []);
    const again = look({ before: resumed, occurrences: [suspended('2026-11-22T12:00:00Z')] }).record;
    assert.equal(again.owed.length, 1);
    assert.notEqual(again.owed[0]?.id, first.owed[0]?.id);
  });

  it('owes each receiver what it asked for, and what it has not taken', () => {
    const receivers = [
      receiver(),
      receiver({ name: 'gpu', pools: ['gpu-*'] }),
      receiver({ name: 'loud', severity: 'critical' }),
    ];
    const first = look({ receivers, occurrences: [occurrence('web', '1'), occurrence('gpu-a', '1')] }).record;
    assert.deepEqual(
      first.owed.map(({ to }) => to),
      [['chat'], ['chat', 'gpu']],
    );
    const [, second] = first.owed;
    const next = look({ receivers, before: first, occurrences: [], taken: { [second?.id ?? '']: ['chat'] } }).record;
    assert.deepEqual(
      next.owed.map(({ to }) => to),
      [['chat'], ['gpu']],
    );
    // One that is gone from the file is owed nothing.
    assert.deepEqual(
      look({ receivers: [receiver({ name: 'gpu' })], before: next, occurrences: [] }).record.owed.length,
      1,
    );
  });

  it('tells a cluster that was just given receivers of what needs a person alone', () => {
    const now = [occurrence('web', 'halt'), occurrence('api', 'done', { kind: 'settled', severity: 'info' })];
    const first = look({ before: null, occurrences: now }).record;
    assert.deepEqual(titles(first), ['Pool web: halt']);
    assert.deepEqual(titles(look({ before: first, occurrences: now }).record), ['Pool web: halt']);
  });

  it('makes one message of many pools that one commit broke, with the worst of it', () => {
    const commit = { commit: COMMIT };
    const names = Array.from({ length: 30 }, (_, n) => `pool-${n}`);
    const all = names.map((name, n) =>
      occurrence(name, '1', {
        commit,
        ...(n === 7 ? { severity: 'critical', canWait: { answer: 'no', because: 'pods are at risk' } } : {}),
      }),
    );
    const { owed } = look({ occurrences: all }).record;
    assert.equal(owed.length, 1);
    const told = owed[0]?.notification;
    assert.equal(told?.title, '30 pools: halted');
    assert.equal(told?.severity, 'critical');
    assert.deepEqual(
      told?.canWait,
      { answer: 'no', because: 'pool-7: pods are at risk' },
      'of one, so it says of which',
    );
    assert.deepEqual([told?.pools.length, told?.morePools], [20, 10]);
    // Five are told one by one, and so are those of different commits.
    assert.equal(look({ occurrences: all.slice(0, 5) }).record.owed.length, 5);
    const other = all.slice(0, 6).map((each, n) => ({
      ...each,
      notification: { ...each.notification, commit: { commit: `${n}` } },
    }));
    assert.equal(look({ occurrences: other }).record.owed.length, 6);
  });

  it('gives up the mildest and oldest where too much waits, and says of whom', () => {
    let before = EMPTY;
    const dropped: string[] = [];
    for (let n = 0; n < MOST_OWED; n += 1) {
      const severity = n % 2 === 0 ? 'info' : 'warning';
      const commit = { commit: `${n}` };
      before = look({ before, occurrences: [occurrence('web', `${n}`, { severity, commit })] }).record;
    }
    const next = look({ before, occurrences: [occurrence('api', 'new', { severity: 'critical' })] });
    dropped.push(...next.dropped);
    assert.deepEqual(dropped, ['chat']);
    assert.equal(next.record.owed.length, MOST_OWED);
    assert.deepEqual(titles(next.record).slice(0, 2), ['Pool web: 1', 'Pool web: 2']);
    assert.equal(titles(next.record).at(-1), 'Pool api: new');
  });

  it('is read back as it was written, and damaged counts as none', () => {
    const { record } = look({ occurrences: [occurrence('web', '1', { canWait: { answer: 'yes', because: 'x' } })] });
    assert.deepEqual(readTold(writeTold(record)), record);
    for (const text of ['', '{', '[]', '{"marks":[],"owed":[]}', '{"marks":{},"owed":{}}', 'null']) {
      assert.equal(readTold(text), null, text);
    }
    const notification = { ...record.owed[0]?.notification, at: 'yesterday' };
    const rotten = [
      null,
      1,
      {},
      { id: 'x', to: ['a'], notification: {} },
      { ...record.owed[0], to: [1] },
      { ...record.owed[0], notification },
    ];
    assert.deepEqual(
      readTold(JSON.stringify({ marks: { a: 1, 'web/halted': 'x' }, owed: [...rotten, record.owed[0]] })),
      {
        marks: new Map([['web/halted', 'x']]),
        owed: record.owed,
      },
    );
  });

  it('limits and cleans the text that it reads back', () => {
    const { record } = look({ occurrences: [occurrence('web', '1', { runbook: 'docs/x.md' })] });
    const [owed] = record.owed;
    const long = `x\u202e\n${'y'.repeat(10_000)}`;
    const notification = { ...owed?.notification, pools: [long], runbook: long };
    const wrong = [
      { ...owed, id: long },
      { ...owed, notification: { ...owed?.notification, kind: long } },
    ];
    const read = readTold(JSON.stringify({ marks: {}, owed: [...wrong, { ...owed, notification }] }));
    assert.equal(read?.owed.length, 1);
    const text = JSON.stringify(read.owed);
    assert.ok(text.length < 1_000, `${text.length}`);
    assert.doesNotMatch(text, /\u202e|\\n/);
  });

  it('stays within its room over 10,000 occurrences of text of any length, with receivers that take nothing', () => {
    const noise = `"\\\u0000\u202e${'x'.repeat(600)}`;
    const long = (n: number): Occurrence => {
      const name = `pool-${'n'.repeat(46)}-${n % 3_000}`;
      const { notification: told, ...rest } = occurrence(name, `${n}`, { severity: n % 3 === 0 ? 'critical' : 'info' });
      const wordy = {
        ...told,
        title: noise,
        lines: Array.from({ length: 12 }, () => noise),
        canWait: { answer: 'no', because: noise } as const,
        commit: { commit: `${n}${noise}`, subject: noise, author: noise },
      };
      return { ...rest, notification: wordy };
    };
    let before = EMPTY;
    let largest = 0;
    for (let n = 0; n < 10_000; n += 5) {
      before = look({ before, occurrences: [0, 1, 2, 3, 4].map((more) => long(n + more)) }).record;
      largest = Math.max(largest, before.marks.size);
      if (n % 500 === 0) assert.ok(writeTold(before).length < LONGEST_RECORD, `${writeTold(before).length} at ${n}`);
    }
    assert.ok(writeTold(before).length < LONGEST_RECORD);
    assert.equal(before.owed.length, MOST_OWED);
    assert.equal(largest, MOST_MARKS);
  });

  it('would rather not tell than tell again and again, where more holds than can be remembered', () => {
    const all = Array.from({ length: MOST_MARKS + 500 }, (_, n) =>
      occurrence(`pool-${n}`, '1', { commit: { commit: 'c' } }),
    );
    const first = look({ occurrences: all }).record;
    assert.equal(first.owed[0]?.notification.title, `${MOST_MARKS} pools: halted`);
    const after = look({ before: first, occurrences: all, taken: delivered(first) }).record;
    for (let again = 0; again < 3; again += 1) {
      const { record } = look({ before: after, occurrences: all });
      assert.deepEqual(record.owed, []);
      assert.equal(writeTold(record), writeTold(after));
    }
  });

  it('makes room for what needs a person, where more holds than can be remembered', () => {
    const all = Array.from({ length: MOST_MARKS + 10 }, (_, n) =>
      occurrence(`pool-${n}`, '1', { kind: 'settled', severity: 'info', commit: { commit: 'c' } }),
    );
    const first = look({ occurrences: all }).record;
    const now = [...all, occurrence('pool-0', '1'), occurrence('pool-7', '1', { severity: 'critical' })];
    const second = look({ before: first, occurrences: now, taken: delivered(first) }).record;
    assert.deepEqual(titles(second), ['Pool pool-0: 1', 'Pool pool-7: 1']);
    let before = look({ before: second, occurrences: now, taken: delivered(second) }).record;
    for (let again = 0; again < 3; again += 1) {
      const { record } = look({ before, occurrences: now });
      assert.deepEqual(record.owed, []);
      assert.equal(writeTold(record), writeTold(before));
      before = readTold(writeTold(record)) ?? before;
    }
  });

  it('says the same of the same look, in whatever order the pools come', () => {
    const all = [1, 2, 3].map((n) => occurrence(`pool-${n}`, '1'));
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: 3 }), (order) => {
        const told = look({ occurrences: all }).record;
        assert.equal(writeTold(look({ before: told, occurrences: order }).record), writeTold(told));
      }),
      { numRuns: 20 },
    );
  });

  it('has an id for each message that another process has as well', () => {
    const id = (which: string): string | undefined =>
      look({ occurrences: [occurrence('web', which)] }).record.owed[0]?.id;
    assert.equal(id('1'), id('1'));
    assert.notEqual(id('1'), id('2'));
    assert.match(id('1') ?? '', /^[\w-]{16}$/);
  });
});
