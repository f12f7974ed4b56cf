import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plain } from '#cli/paint.ts';
import { simulationAsText } from '#cli/simulate/render-text.ts';
import { SIMULATION } from './support/simulation.ts';

const lines = simulationAsText(SIMULATION, plain).split('\n');
const [general, gpu] = ['general', 'gpu'].map((pool) => lines.findIndex((line) => line.startsWith(`${pool}  `)));

describe('a simulated rollout as text', () => {
  it('has a bar for every pool that rises as its nodes prove the config', () => {
    const bars = [general, gpu].map((index = -1) => /^ {2}\|(.*)\|$/.exec(lines[index + 1] ?? '')?.[1] ?? '');
    for (const bar of bars) assert.equal(bar.length, bars[0]?.length);
    assert.deepEqual(
      bars.map((bar) => bar.replaceAll(/(.)\1*/g, '$1')),
      [' ▄', ' ▄█'],
    );
    const [first = ''] = bars;
    assert.equal(first.indexOf('▄'), first.length / 2 - 1);
  });

  it('marks failures below the bar, and names waves and what a pool waits for', () => {
    const [marks = '', ...below] = lines.slice((general ?? 0) + 2, gpu);
    assert.match(marks, /^ {2}\| +x\| {2}failures$/);
    assert.deepEqual(below, [
      '  canary   up to 1 node: from 0s to 50s',
      '  rest     up to 2 nodes: not begun',
      '  failed on a-2',
      '',
    ]);
    assert.equal(lines[(gpu ?? 0) + 2], '');
  });
});
