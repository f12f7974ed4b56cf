import assert from 'node:assert/strict';
import { it } from 'node:test';
import { limitConcurrency } from '#reconciler/cluster/blockers/limit-concurrency.ts';

it('so many are done at once, and the others in the order in which they came, whatever becomes of those before', async () => {
  const inTurn = limitConcurrency(2);
  const begun: number[] = [];
  const works = Array.from({ length: 6 }, () => Promise.withResolvers<number>());
  const results = works.map(({ promise }, index) =>
    inTurn(() => {
      begun.push(index);
      return promise;
    }).catch(() => 'failed'),
  );
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await settled();
  assert.deepEqual(begun, [0, 1]);
  works[1]?.reject(new Error('no'));
  await settled();
  assert.deepEqual(begun, [0, 1, 2]);
  for (const work of [works[0], works[2]]) work?.resolve(1);
  await settled();
  assert.deepEqual(begun, [0, 1, 2, 3, 4]);
  for (const work of works) work.resolve(2);
  assert.deepEqual(await Promise.all(results), [1, 'failed', 1, 2, 2, 2]);
  assert.equal(await inTurn(() => Promise.resolve(3)), 3, 'its places are free again');
});
