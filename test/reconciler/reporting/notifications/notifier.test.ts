import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readTold } from '#reconciler/reporting/notifications/told-record.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { NOW, pool, source } from './support.ts';
import { begin, CHAT, halted, SECOND, title } from './notifier-process.ts';

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
});
