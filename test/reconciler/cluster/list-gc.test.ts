import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createListGc } from '#reconciler/cluster/list-gc.ts';

const MIB = 1024 * 1024;

describe('a long list', () => {
  /** @param each what an object leaves behind in the heap, kept and dead, in MiB. @returns after how many objects it was swept */
  function sweptIn(count: number, each: { readonly kept: number; readonly dead: number }): readonly number[] {
    let [kept, dead, trimmed] = [50 * MIB, 0, 0];
    const swept: number[] = [];
    const heap = {
      used: () => kept + dead,
      collect: () => {
        swept.push(trimmed);
        dead = 0;
      },
    };
    const trim = createListGc(heap)((object: number) => {
      kept += each.kept * MIB;
      dead += each.dead * MIB;
      trimmed += 1;
      return -object;
    });
    for (let nth = 1; nth <= count; nth += 1) assert.equal(trim(nth), -nth);
    return swept;
  }

  it('gives back what is trimmed off, about each 24 MiB', () => {
    assert.deepEqual(sweptIn(2000, { kept: 0, dead: 1 / 16 }), [499, 899, 1299, 1699]);
  });

  it('counts from what is in use after that', () => {
    assert.deepEqual(sweptIn(2000, { kept: 1 / 64, dead: 3 / 64 }), [499, 899, 1299, 1699]);
  });

  it('costs nothing where it is short', () => {
    assert.deepEqual(sweptIn(300, { kept: 0, dead: 1 / 16 }), []);
  });

  it('counts from what V8 made of it by itself', () => {
    const uses = [100, 120, 60, 80, 85];
    let swept = 0;
    const heap = { used: () => (uses.shift() ?? 60) * MIB, collect: () => (swept += 1) };
    const trim = createListGc(heap)((object: number) => object);
    for (let nth = 0; nth < 500; nth += 1) trim(nth);
    assert.equal(swept, 1);
  });
});
