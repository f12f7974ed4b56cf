import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withRetryAfter } from '#reconciler/cluster/kube/retry-after-kube.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { type Kube, LEASES, NODES, PODS } from '#shared/kube/kube.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const asking = (ms: number): KubeError =>
  new KubeError('KUBE_THROTTLED', 'slow down', { status: 429, disposition: { kind: 'wait', ms } });

it('an API server is left alone for as long as it asks, whoever calls, but for calls that keep the lead', async () => {
  const clock = createManualClock();
  const calls: string[] = [];
  let answer: KubeError | null = null;
  const get = ({ resource }: { readonly resource: { readonly plural: string } }) => {
    calls.push(resource.plural);
    return answer === null ? Promise.resolve(null) : Promise.reject(answer);
  };
  const kube = withRetryAfter({ get } as unknown as Kube, clock);
  const call = (resource: typeof NODES): Promise<string> =>
    kube.get({ resource }, 'a').then(
      () => 'answered',
      (error: unknown) => (error as KubeError).code,
    );

  answer = asking(60_000);
  assert.equal(await call(LEASES), 'KUBE_THROTTLED');
  answer = null;
  assert.equal(await call(NODES), 'answered', 'what is asked of the lead holds for the lead');
  answer = asking(5_000);
  assert.equal(await call(NODES), 'KUBE_THROTTLED');
  answer = null;
  calls.length = 0;
  clock.skip(4_999);
  assert.deepEqual([await call(PODS), await call(LEASES), calls], ['KUBE_THROTTLED', 'answered', ['leases']]);
  clock.skip(1);
  assert.equal(await call(PODS), 'answered');
});
