import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { AT_NODES, kubeFor } from '../../../shared/kube/support/test-kube.ts';
import { json, list, node, scriptedServer } from '../../../shared/kube/support/scripted-server.ts';

describe('a metered API server', () => {
  it('lets a list be trimmed as it comes, and counts it once', async () => {
    await using server = await scriptedServer();
    server.play(json(list('9', [node('a', '1', { filler: 'x' })], 'more')), json(list('9', [node('b', '2')])));
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
