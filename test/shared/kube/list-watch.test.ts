import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { listWatch } from '#shared/kube/list-watch.ts';
import type { ListWatchEvent } from '#shared/kube/kube.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { changed, fault, listed, scriptedSource, type WatchStep } from './support/scripted-source.ts';
import { AT_NODES } from './support/test-kube.ts';

/** A follower of a scripted source, and all that it heard. */
function setUp(random = 0) {
  const clock = createManualClock();
  const source = scriptedSource(clock);
  const stop = new AbortController();
  const heard: string[] = [];
  const faults: string[] = [];
  let ended = false;
  const run = async (): Promise<void> => {
    for await (const each of listWatch<KubeObject>(source.kube, AT_NODES, {
      signal: stop.signal,
      clock,
      random: () => random,
      backoff: { firstMs: 1000, maxMs: 30_000, jitter: 0 },
      onFault: (error, retryInMs) => faults.push(`${codeOf(error)} ${retryInMs}`),
    })) {
      heard.push(told(each));
    }
    ended = true;
  };
  return { clock, source, stop, heard, faults, ended: () => ended, run };
}

const told = (each: ListWatchEvent<KubeObject>): string =>
  each.heard === 'replaced'
    ? `= ${each.items.map(({ metadata }) => metadata.name).join(' ')}`
    : `${each.type} ${each.item.metadata.name}`;

const bookmark = (resourceVersion: string) => ({ type: 'BOOKMARK', resourceVersion }) as const;

describe('a follower', () => {
  it('hears the whole list, then what changes', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a', 'b'));
    on.source.watches([changed('ADDED', 'c', '6'), changed('DELETED', 'a', '7'), 'hold']);
    void on.run();
    await on.clock.advance(0);
    assert.deepEqual(on.heard, ['= a b', 'ADDED c', 'DELETED a']);
    assert.deepEqual(on.source.calls, ['list @0', 'watch from 5 @0']);
  });

  it('goes on where it was when the server ends a watch, without a list', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a'));
    on.source.watches([changed('MODIFIED', 'a', '6'), 300_000], [200_000, bookmark('9')]);
    void on.run();
    await on.clock.advance(550_000);
    assert.deepEqual(on.source.calls, ['list @0', 'watch from 5 @0', 'watch from 6 @300000', 'watch from 9 @500000']);
    assert.deepEqual(on.faults, []);
  });

  it('lists again when the version is forgotten, once without a word', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a'), listed('9', 'b'));
    on.source.watches([40_000, fault('KUBE_GONE')]);
    void on.run();
    await on.clock.advance(41_000);
    assert.deepEqual(on.heard, ['= a', '= b']);
    assert.deepEqual(on.source.calls, ['list @0', 'watch from 5 @0', 'list @40000', 'watch from 9 @40000']);
    assert.deepEqual(on.faults, []);
  });

  it('backs off from a server that forgets every version', async () => {
    const on = setUp();
    on.source.watches(...Array.from({ length: 8 }, () => [fault('KUBE_GONE')]));
    void on.run();
    await on.clock.advance(100_000);
    const lists = on.source.calls.filter((call) => call.startsWith('list'));
    assert.deepEqual(lists.slice(0, 6), [
      'list @0',
      'list @1000',
      'list @3000',
      'list @7000',
      'list @15000',
      'list @31000',
    ]);
    assert.equal(on.faults[0], 'KUBE_GONE 2000');
  });

  it('backs off from a server that closes every watch at once', async () => {
    const on = setUp();
    on.source.watches(...Array.from({ length: 5 }, () => []));
    void on.run();
    await on.clock.advance(20_000);
    const watches = on.source.calls.filter((call) => call.startsWith('watch'));
    assert.deepEqual(
      watches,
      ['0', '1000', '3000', '7000', '15000'].map((at) => `watch from 1 @${at}`),
    );
    assert.deepEqual(on.faults.slice(0, 2), ['KUBE_CLOSED_AT_ONCE 2000', 'KUBE_CLOSED_AT_ONCE 4000']);
  });

  it('does not hurry with a server that says one thing and closes', async () => {
    const on = setUp();
    on.source.watches(...Array.from({ length: 100 }, () => [bookmark('2')]));
    void on.run();
    await on.clock.advance(10_000);
    assert.equal(on.source.calls.length, 12);
  });

  for (const code of ['KUBE_FORBIDDEN', 'KUBE_UNAUTHORIZED', 'KUBE_NOT_FOUND', 'KUBE_UNREACHABLE'] as const) {
    it(`does not give up where the list ends with ${code}`, async () => {
      const on = setUp();
      on.source.lists(...Array.from({ length: 50 }, () => fault(code)), listed('5', 'a'));
      void on.run();
      await on.clock.advance(50 * 30_000);
      assert.deepEqual(on.heard, ['= a']);
      assert.equal(on.faults.length, 50);
      assert.deepEqual(on.faults.slice(0, 3), [`${code} 1000`, `${code} 2000`, `${code} 4000`]);
      assert.equal(on.faults.at(-1), `${code} 30000`);
    });
  }

  it('waits as long as the server asks', async () => {
    const on = setUp();
    on.source.lists(fault('KUBE_THROTTLED', 45_000), listed('5'));
    void on.run();
    await on.clock.advance(44_999);
    assert.deepEqual(on.source.calls, ['list @0']);
    await on.clock.advance(1);
    assert.deepEqual(on.heard, ['= ']);
  });

  it('doubts the version after three faults in a row', async () => {
    const on = setUp();
    on.source.watches(...Array.from({ length: 3 }, () => [fault('KUBE_SERVER_ERROR')]));
    void on.run();
    await on.clock.advance(10_000);
    assert.deepEqual(on.source.calls, [
      'list @0',
      'watch from 1 @0',
      'watch from 1 @1000',
      'watch from 1 @3000',
      'list @7000',
      'watch from 1 @7000',
    ]);
  });

  it('reads no list in a day of watches that end in their time', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a'));
    void on.run();
    await on.clock.advance(24 * 3_600_000);
    assert.deepEqual(on.source.calls.slice(0, 3), ['list @0', 'watch from 5 @0', 'watch from 5 @300000']);
    assert.equal(on.source.calls.filter((call) => call.startsWith('list')).length, 1);
    assert.deepEqual(on.faults, []);
  });

  const endings: readonly (readonly [string, readonly WatchStep[], number])[] = [
    ['breaks', [100_000, fault('KUBE_UNREACHABLE')], 600_000],
    ['has to be cut', [330_000, fault('KUBE_TIMEOUT')], 600_000],
  ];
  for (const [how, steps, listAt] of endings) {
    it(`reads the whole list again, about ten minutes after the last, where a watch ${how}`, async () => {
      const on = setUp();
      on.source.lists(listed('5', 'a'), listed('8', 'a', 'b'));
      on.source.watches(steps);
      void on.run();
      await on.clock.advance(1_200_000);
      assert.deepEqual(on.heard, ['= a', '= a b']);
      const lists = on.source.calls.filter((call) => call.startsWith('list'));
      assert.deepEqual(lists, ['list @0', `list @${listAt}`]);
    });
  }

  it('spreads the lists of a fleet over five minutes', async () => {
    const on = setUp(0.5);
    on.source.watches([1000, fault('KUBE_UNREACHABLE')]);
    void on.run();
    await on.clock.advance(1_200_000);
    const lists = on.source.calls.filter((call) => call.startsWith('list'));
    assert.deepEqual(lists, ['list @0', 'list @750000']);
  });

  it('reads no list where the server ends watches early, as it does with slow readers', async () => {
    const on = setUp();
    on.source.watches([changed('MODIFIED', 'a', '6'), 39_000], [bookmark('9'), 1000]);
    void on.run();
    await on.clock.advance(3_600_000);
    assert.equal(on.source.calls.filter((call) => call.startsWith('list')).length, 1);
  });

  it('reads one where the next watch cannot begin after that: the server went away', async () => {
    const on = setUp();
    on.source.watches([changed('MODIFIED', 'a', '6'), 39_000], [fault('KUBE_UNREACHABLE')]);
    void on.run();
    await on.clock.advance(3_600_000);
    const lists = on.source.calls.filter((call) => call.startsWith('list'));
    assert.deepEqual(lists, ['list @0', 'list @600000']);
  });

  it('ends when the signal aborts: in a list, in a watch, in a pause', async () => {
    for (const first of [listed('5'), fault('KUBE_FORBIDDEN')]) {
      const on = setUp();
      on.source.lists(first);
      const running = on.run();
      await on.clock.advance(0);
      on.stop.abort();
      await running;
      assert.equal(on.ended(), true);
      assert.deepEqual(on.clock.sleeping(), []);
    }
  });

  it('leaves nothing behind when its consumer leaves', async () => {
    const clock = createManualClock();
    const source = scriptedSource(clock);
    const options = { signal: new AbortController().signal, clock, random: () => 0, onFault: () => undefined };
    for await (const _ of listWatch(source.kube, AT_NODES, options)) break;
    assert.deepEqual(clock.sleeping(), []);
  });
});
