import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulationAsSvg } from '#cli/simulate/render-svg.ts';
import { SIMULATION } from './support/simulation.ts';

describe('the picture of a simulated rollout', () => {
  const svg = simulationAsSvg(SIMULATION);

  it('has a title and a lane for every pool, one below the other', () => {
    assert.match(svg, /viewBox="0 0 960 230"/);
    assert.match(svg, /<text x="20" y="24"[^>]*>4 nodes: it ends after 1m40s</);
    assert.match(svg, /<text x="20" y="62">general: Halted, 1 of 2 nodes proved it, 1 failed</);
    assert.match(svg, /<text x="20" y="152">gpu: Settled, 2 of 2 nodes proved it</);
  });

  it('has a curve that rises where a node proved the config, to the top where all did', () => {
    const curves = [...svg.matchAll(/<polygon class="area" points="([^"]+)"/g)].map(([, points]) => points);
    assert.deepEqual(curves, [
      '20.0,116 480.0,116.0 480.0,93.0 940.0,93.0 940.0,116',
      '20.0,206 250.0,206.0 250.0,183.0 710.0,183.0 710.0,160.0 940.0,160.0 940.0,206',
    ]);
  });

  it('marks failures and the ends of waves where they were', () => {
    assert.match(svg, /<line class="fail" x1="940\.0" x2="940\.0" y1="106" y2="116"><title>a-2 failed</);
    assert.match(svg, /<line class="wave" x1="480\.0" x2="480\.0" y1="70" y2="116"><title>canary done</);
    assert.equal(svg.match(/class="wave"/g)?.length, 1);
    assert.equal(svg.match(/class="base"/g)?.length, 2);
  });
});
