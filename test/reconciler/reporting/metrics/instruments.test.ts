import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Registry } from 'prom-client';
import { createInstruments } from '#reconciler/reporting/metrics/instruments.ts';

it('the buckets of every histogram ascend, and those of rollouts reach from a node to a weekend', async () => {
  const registry = new Registry();
  const { firstNodeSeconds, lastNodeSeconds, passSeconds, apiSeconds, gitSeconds } = createInstruments(registry);
  firstNodeSeconds.observe({ pool: 'web' }, 1);
  lastNodeSeconds.observe({ pool: 'web' }, 1);
  passSeconds.observe({ outcome: 'made' }, 1);
  apiSeconds.observe({ verb: 'list' }, 1);
  gitSeconds.observe({ operation: 'resolve' }, 1);
  const bounds = new Map<string, number[]>();
  for (const [, name = '', le = ''] of (await registry.metrics()).matchAll(/^(\w+)_bucket\{le="([^"]+)"/gm)) {
    bounds.set(name, [...(bounds.get(name) ?? []), Number(le === '+Inf' ? Infinity : le)]);
  }
  assert.equal(bounds.size, 5);
  for (const [name, les] of bounds) {
    assert.ok(
      les.every((le, index) => index === 0 || le > (les[index - 1] ?? 0)),
      `${name}: ${les.join(' ')}`,
    );
    if (!name.includes('rollout')) continue;
    assert.deepEqual([les[0], les.at(-2)], [15, 3 * 86_400]);
    for (const [index, le] of les.entries()) {
      if (index > 0 && le < 28_800) assert.ok(le / (les[index - 1] ?? le) <= 2.5, `${name} has a gap before ${le} s`);
    }
  }
});
