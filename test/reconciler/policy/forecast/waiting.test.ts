import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitingNodes } from '#reconciler/policy/forecast/waiting.ts';
import { fc } from '../../../support/property.ts';

const node = (name: string, zone: string, isControlPlane = false) => ({ name, zone, isControlPlane, ready: true });

describe('nodes that have yet to begin', () => {
  it('begin in order, past those of other zones that may not', () => {
    const waiting = waitingNodes([
      node('a1', 'a'),
      node('b1', 'b'),
      node('b2', 'b'),
      node('a2', 'a'),
      node('m', 'a', true),
    ]);
    const take = (shut: string): string | undefined => waiting.take(({ zone }) => zone !== shut)?.name;
    assert.deepEqual([take(''), take('b'), take('a'), take('a'), take('b')], ['a1', 'a2', 'b1', 'b2', 'm']);
    assert.equal(take(''), undefined);
  });

  it('begin one by one, each once, whatever their zones', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean())), (kinds) => {
        const nodes = kinds.map(([zone, isControlPlane], index) => node(`n${index}`, zone, isControlPlane));
        const waiting = waitingNodes(nodes);
        assert.deepEqual(
          [...nodes.map(() => waiting.take(() => true)), waiting.take(() => true)],
          [...nodes, undefined],
        );
      }),
    );
  });

  it('wait where none may begin, and lose nothing by it', () => {
    const waiting = waitingNodes([node('a', 'x')]);
    assert.equal(
      waiting.take(() => false),
      undefined,
    );
    assert.equal(waiting.take(() => true)?.name, 'a');
  });
});
