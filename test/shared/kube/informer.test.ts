import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { createInformer, keyOf } from '#shared/kube/informer.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { changed, fault, item, listed, scriptedSource } from './support/scripted-source.ts';
import { AT_NODES } from './support/test-kube.ts';

interface Kept {
  readonly name: string;
  readonly colour: string;
}

function setUp(same?: (before: Kept, after: Kept) => boolean) {
  const clock = createManualClock();
  const source = scriptedSource(clock);
  const stop = new AbortController();
  let pokes = 0;
  const mirror = createInformer<KubeObject, Kept>({
    kube: source.kube,
    selection: AT_NODES,
    clock,
    random: () => 0,
    onFault: () => undefined,
    onChange: () => (pokes += 1),
    ...(same === undefined ? {} : { same }),
    project({ metadata: { name, labels } }) {
      if (labels?.['colour'] === 'bad') throw new RangeError('no such colour');
      return labels?.['hidden'] === 'yes' ? undefined : { name, colour: labels?.['colour'] ?? 'none' };
    },
    trim(object) {
      if (object.metadata.name === 'untrimmed') throw new RangeError('too long');
      return object;
    },
  });
  return { clock, source, stop, mirror, pokes: () => pokes };
}

const colours = (items: ReadonlyMap<string, Kept>): Record<string, string> =>
  Object.fromEntries([...items].map(([key, { colour }]) => [key, colour]));

describe('a mirror', () => {
  it('is not in step before the first list, and pokes when it is, though there is nothing', async () => {
    const on = setUp();
    on.source.lists(fault('KUBE_UNREACHABLE'), listed('5'));
    void on.mirror.run(on.stop.signal);
    await on.clock.advance(0);
    assert.deepEqual([on.mirror.synced(), on.pokes()], [false, 0]);
    await on.clock.advance(1000);
    assert.deepEqual([on.mirror.synced(), on.pokes()], [true, 1]);
  });

  it('is out of step from a refresh on until the next list is there, and keeps what it had until then', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a'), fault('KUBE_UNREACHABLE'), listed('7', 'b'));
    on.source.watches(['hold'], ['hold']);
    void on.mirror.run(on.stop.signal);
    await on.clock.advance(5000);
    const asked = on.mirror.listedAtMs();
    on.mirror.refresh();
    await on.clock.advance(0);
    assert.deepEqual([on.mirror.synced(), colours(on.mirror.items)], [false, { a: 'none' }]);
    await on.clock.advance(1000);
    assert.deepEqual([on.mirror.synced(), colours(on.mirror.items)], [true, { b: 'none' }]);
    assert.deepEqual([on.mirror.listedAtMs() - asked, on.pokes()], [6000, 2]);
  });

  it('keeps what the projection says, by name, as it changes', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a', 'b'));
    on.source.watches([
      changed('MODIFIED', 'a', '6', { colour: 'red' }),
      changed('DELETED', 'b', '7'),
      changed('ADDED', 'c', '8', { hidden: 'yes' }),
      changed('ADDED', 'd', '9', { colour: 'blue' }),
      'hold',
    ]);
    void on.mirror.run(on.stop.signal);
    await on.clock.advance(0);
    assert.deepEqual(colours(on.mirror.items), { a: 'red', d: 'blue' });
  });

  it('forgets what the projection leaves out from now on', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a'));
    on.source.watches([changed('MODIFIED', 'a', '6', { hidden: 'yes' }), 'hold']);
    void on.mirror.run(on.stop.signal);
    await on.clock.advance(0);
    assert.deepEqual([colours(on.mirror.items), on.pokes()], [{}, 2]);
  });

  it('pokes only for what makes a difference, and keeps the value where there is none', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a'));
    on.source.watches([60_000, changed('MODIFIED', 'a', '6', { other: 'label' }), 'hold']);
    void on.mirror.run(on.stop.signal);
    await on.clock.advance(0);
    const before = on.mirror.items.get('a');
    await on.clock.advance(60_000);
    assert.equal(on.mirror.items.get('a'), before);
    assert.equal(on.pokes(), 1);
  });

  it('keeps a newer value without a poke where it is the same to whoever is poked', async () => {
    const on = setUp((before, after) => before.name === after.name);
    on.source.lists(listed('5', 'a'));
    on.source.watches([changed('MODIFIED', 'a', '6', { colour: 'red' }), changed('ADDED', 'b', '7'), 'hold']);
    void on.mirror.run(on.stop.signal);
    await on.clock.advance(0);
    assert.deepEqual(colours(on.mirror.items), { a: 'red', b: 'none' });
    assert.equal(on.pokes(), 2, 'the first list, and the new one');
  });

  it('keeps out what cannot be looked at, says so once, and goes on with all others', async () => {
    const on = setUp();
    const bad = (version: string) => changed('MODIFIED', 'a', version, { colour: 'bad' });
    on.source.lists(listed('5', 'a', 'b', 'untrimmed'));
    on.source.watches([
      bad('6'),
      bad('7'),
      changed('MODIFIED', 'b', '8', { colour: 'red' }),
      10_000,
      changed('MODIFIED', 'a', '9', { colour: 'blue' }),
      bad('10'),
      10_000,
      changed('DELETED', 'a', '11'),
      'hold',
    ]);
    void on.mirror.run(on.stop.signal);
    await on.clock.advance(0);
    assert.deepEqual(colours(on.mirror.items), { b: 'red', untrimmed: 'none' });
    assert.deepEqual(
      [...on.mirror.unreadable].map(([key, { error }]) => [key, String(error)]),
      [['a', 'RangeError: no such colour']],
    );
    assert.equal(on.pokes(), 3, 'the list, a that cannot be read, b that is red');
    await on.clock.advance(10_000);
    assert.deepEqual([[...on.mirror.unreadable.keys()], on.pokes()], [['a'], 5]);
    await on.clock.advance(10_000);
    assert.deepEqual([[...on.mirror.unreadable.keys()], on.pokes()], [[], 6]);
  });

  it('drops what could not be looked at where a later list no longer has it', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a'), listed('9', 'b'));
    on.source.watches([changed('MODIFIED', 'a', '6', { colour: 'bad' }), 20_000, fault('KUBE_GONE')]);
    void on.mirror.run(on.stop.signal);
    await on.clock.advance(1_000);
    assert.deepEqual([...on.mirror.unreadable.keys()], ['a']);
    await on.clock.advance(20_000);
    assert.deepEqual([[...on.mirror.unreadable.keys()], [...on.mirror.items.keys()]], [[], ['b']]);
  });

  it('drops what a later list no longer has', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a', 'b'), { resourceVersion: '9', items: [item('b', '5'), item('c', '9')] });
    on.source.watches([20_000, fault('KUBE_GONE')]);
    void on.mirror.run(on.stop.signal);
    await on.clock.advance(21_000);
    assert.deepEqual([...on.mirror.items.keys()].toSorted(), ['b', 'c']);
    assert.equal(on.pokes(), 2);
  });

  it('ends with its signal, and keeps what it knows', async () => {
    const on = setUp();
    on.source.lists(listed('5', 'a'));
    const running = on.mirror.run(on.stop.signal);
    await on.clock.advance(0);
    on.stop.abort();
    await running;
    assert.equal(on.mirror.items.size, 1);
  });

  it('names objects by namespace where there is one', () => {
    assert.equal(keyOf({ metadata: { name: 'a' } }), 'a');
    assert.equal(keyOf({ metadata: { name: 'a', namespace: 'ns' } }), 'ns/a');
  });
});
