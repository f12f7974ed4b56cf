import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Paint } from '#cli/paint.ts';
import { classStatusLines } from '#cli/status/class-status-lines.ts';
import { poolInCluster, validPool } from '../../support/fleet.ts';

const painted: Paint = (tone, text) => `${tone}|${text}`;
const linesOf = (classes: readonly object[], isWide = false): readonly string[] =>
  classStatusLines(poolInCluster(validPool('workers', 110), { classes } as object), painted, isWide);
const done = (name: string) => ({ name, nodes: 2, updated: 2, configName: `workers-${name}` });

describe('the classes of machines below a pool', () => {
  it('are those first that somebody has to know of, by their colours', () => {
    const held = { name: 'cpu=1', nodes: 1, message: 'it has too little memory' };
    const busy = { name: 'cpu=2', nodes: 3, updated: 1, configName: 'workers-b' };
    assert.deepEqual(linesOf([done('cpu=4'), busy, held]), [
      'bad|  cpu=1: 1 node keeps what it has: it has too little memory',
      'busy|  cpu=2: 1 of 3 nodes run workers-b',
      'quiet|  cpu=4: 2 of 2 nodes run workers-cpu=4',
    ]);
  });

  it('are six, and all of them where asked for; a pool without any has no line', () => {
    const eight = Array.from({ length: 8 }, (_, index) => done(`cpu=${index}`));
    assert.equal(linesOf(eight).length, 7);
    assert.equal(linesOf(eight).at(-1), 'quiet|  and 2 more: -o wide shows every class of machines');
    assert.equal(linesOf(eight, true).length, 8);
    assert.equal(linesOf(eight.slice(2)).length, 6);
    assert.deepEqual(linesOf([]), []);
  });
});
