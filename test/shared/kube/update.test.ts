import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { NODES } from '#shared/kube/kube.ts';
import { mergePatchLatest } from '#shared/kube/update.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { json, node, status, playing } from './support/scripted-server.ts';
import { AT_NODES, kubeFor, refusalOf } from './support/test-kube.ts';

const conflict = status(409, 'the object has been modified', { reason: 'Conflict' });
const options = { clock: systemClock, random: () => 0 };
const labelled = ({ metadata }: KubeObject) => ({ metadata: { labels: { was: metadata.resourceVersion } } });

describe('an update of the latest', () => {
  it('writes what follows from what was read, only if nobody wrote in between', async () => {
    await using server = await playing(json(node('a', '1')), json(node('a', '2')));
    assert.deepEqual(
      await mergePatchLatest(kubeFor(server), AT_NODES, 'a', labelled, { ...options, subresource: 'status' }),
      node('a', '2'),
    );
    assert.equal(server.seen[1]?.url.pathname, '/api/v1/nodes/a/status');
    assert.deepEqual(JSON.parse(server.seen[1]?.body ?? ''), {
      metadata: { labels: { was: '1' }, resourceVersion: '1' },
    });
  });

  it('reads and decides again when somebody did', async () => {
    await using server = await playing(json(node('a', '1')), conflict, json(node('a', '5')), json(node('a', '6')));
    await mergePatchLatest(kubeFor(server), AT_NODES, 'a', labelled, options);
    assert.deepEqual(JSON.parse(server.seen[3]?.body ?? ''), {
      metadata: { labels: { was: '5' }, resourceVersion: '5' },
    });
  });

  it('gives up after five tries', async () => {
    await using server = await playing(...Array.from({ length: 10 }, () => [json(node('a', '1')), conflict]).flat());
    const error = await refusalOf(mergePatchLatest(kubeFor(server), AT_NODES, 'a', labelled, options));
    assert.equal(error.code, 'KUBE_CONFLICT');
    assert.equal(server.seen.length, 10);
  });

  it('writes nothing where nothing is to be done, or there is not an object', async () => {
    await using server = await playing(
      json(node('a', '1')),
      status(404, 'not found', { reason: 'NotFound', details: { name: 'a', kind: NODES.plural } }),
    );
    const kube = kubeFor(server);
    assert.deepEqual(await mergePatchLatest(kube, AT_NODES, 'a', () => null, options), node('a', '1'));
    assert.equal(await mergePatchLatest(kube, AT_NODES, 'a', labelled, options), null);
  });

  it('leaves every other refusal to its caller', async () => {
    await using server = await playing(json(node('a', '1')), status(422, 'no such phase', { reason: 'Invalid' }));
    const error = await refusalOf(mergePatchLatest(kubeFor(server), AT_NODES, 'a', labelled, options));
    assert.equal(error.code, 'KUBE_INVALID');
  });
});
