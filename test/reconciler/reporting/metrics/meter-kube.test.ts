import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import { type Kube, PODS } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { AT_NODES, kubeFor } from '../../../shared/kube/support/test-kube.ts';
import { json, list, node, playing } from '../../../shared/kube/support/scripted-server.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const PODS_STATUS = { resource: PODS, namespace: 'x' };

describe('a metered API server', () => {
  for (const [outcome, code] of [
    [new KubeError('KUBE_CONFLICT', 'no', { status: 409 }), '409'],
    [new KubeError('KUBE_UNREACHABLE', 'away'), 'unreachable'],
    [new KubeError('KUBE_TIMEOUT', 'late'), 'timeout'],
    [new RangeError('ours'), 'error'],
    [new KubeError('KUBE_ABORTED', 'called off'), undefined],
    [null, '404'],
    [{ metadata: { name: 'a' } }, '200'],
  ] as const) {
    const what = outcome instanceof Error ? outcome.name + outcome.message : JSON.stringify(outcome);
    it(`counts ${what} as ${code ?? 'nothing'}, and hands it on`, async () => {
      const metrics = createMetrics({ clock: systemClock, ofProcess: false });
      const get = () => (outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome));
      const asked = metrics.meterKube({ get } as unknown as Kube).get(AT_NODES, 'a');
      if (outcome instanceof Error) await assert.rejects(asked, outcome);
      else assert.equal(await asked, outcome);
      const { values } = await metrics.instruments.apiRequests.get();
      const counted = values.map(({ labels, value }) => ({ ...labels, value }));
      assert.deepEqual(counted, code === undefined ? [] : [{ verb: 'get', resource: 'nodes', code, value: 1 }]);
    });
  }

  it('counts writes by what they are to, and how long each takes', async () => {
    const clock = createManualClock();
    const metrics = createMetrics({ clock, ofProcess: false });
    const takes = async (): Promise<unknown> => {
      clock.skip(2_000);
      return {};
    };
    const kube = metrics.meterKube({ create: takes, delete: takes, mergePatch: takes } as unknown as Kube);
    await kube.create(PODS_STATUS, { metadata: { name: 'a' } });
    await kube.delete(PODS_STATUS, 'a', { uid: 'u' });
    await kube.mergePatch(PODS_STATUS, 'a', {});
    await kube.mergePatch(PODS_STATUS, 'a', {}, { subresource: 'status' });
    const { values } = await metrics.instruments.apiRequests.get();
    assert.deepEqual(
      values.map(({ labels: { verb, resource, code } }) => [verb, resource, code].join(' ')),
      ['create pods 201', 'delete pods 200', 'patch pods 200', 'patch pods/status 200'],
    );
    const seconds = (await metrics.instruments.apiSeconds.get()).values.filter(({ metricName }) =>
      metricName?.endsWith('_sum'),
    );
    assert.deepEqual(
      seconds.map(({ labels, value }) => [labels.verb, value]),
      [
        ['create', 2],
        ['delete', 2],
        ['patch', 4],
      ],
    );
  });

  it('lets a list be trimmed as it comes, and counts it once', async () => {
    await using server = await playing(
      json(list('9', [node('a', '1', { filler: 'x' })], 'more')),
      json(list('9', [node('b', '2')])),
    );
    const metrics = createMetrics({ clock: systemClock, ofProcess: false });
    const kube = metrics.meterKube(kubeFor(server));
    const trim = ({ metadata }: KubeObject): KubeObject => ({ metadata });
    const { items } = await kube.list(AT_NODES, undefined, trim);
    assert.deepEqual(items, [node('a', '1'), node('b', '2')]);
    const { values } = await metrics.instruments.apiRequests.get();
    assert.deepEqual(
      values.map(({ labels, value }) => ({ ...labels, value })),
      [{ verb: 'list', resource: 'nodes', code: '200', value: 1 }],
    );
  });
});
