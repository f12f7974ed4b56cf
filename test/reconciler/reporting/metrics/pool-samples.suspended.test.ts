import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scrapeOfWaiting } from '../../../support/waiting-scrape.ts';

const suspendedIn = (scrape: string): string | undefined =>
  /^kubelet_gitops_pool_suspended\{pool="web"\} (\d)$/m.exec(scrape)?.[1];

describe('the metric pool_suspended', () => {
  for (const [by, wanted] of [
    ['nobody', '0'],
    ['command', '1'],
    ['command without a reason', '1'],
    ['pool.yaml', '1'],
    ['cluster file', '1'],
  ] as const) {
    it(`is ${wanted} where the pool is suspended by ${by}`, async () => {
      assert.equal(suspendedIn(await scrapeOfWaiting(by)), wanted);
    });
  }

  it('follows the file of the cluster back', async () => {
    assert.equal(suspendedIn(await scrapeOfWaiting('cluster file', 'nobody')), '0');
  });
});
