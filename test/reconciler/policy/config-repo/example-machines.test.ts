import assert from 'node:assert/strict';
import { it } from 'node:test';
import { judgeOnExamples } from '#reconciler/policy/config-repo/example-machines.ts';
import { sizedPool } from '../../../support/rollout/sized-pool.ts';

it('a pool is judged for machines of two to 192 cores, the larger ones with two nodes of memory, all of them amd64', () => {
  const judged: unknown[] = [];
  judgeOnExamples(sizedPool('computed: {podPidsLimit: \'arch == "amd64" ? milliCpu + numaNodes : 1\'}\n'), (config) => {
    judged.push(config['podPidsLimit']);
    return [];
  });
  assert.deepEqual(judged, [2_001, 4_001, 16_001, 64_002, 192_002]);
});
