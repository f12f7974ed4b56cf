import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, KUBELET_NODES } from '#shared/kube/kube.ts';
import type { Log } from '#shared/runtime/log.ts';
import { json, list, node, scriptedServer, status, text, playing } from './support/scripted-server.ts';
import { AT_NODES, kubeFor, refusalOf } from './support/test-kube.ts';

const missing = status(404, 'nodes "a" not found', { reason: 'NotFound', details: { name: 'a', kind: 'nodes' } });
const unknown = text('404 page not found\n', 404, { 'content-type': 'text/plain' });
const AT_MAPS = { resource: CONFIG_MAPS, namespace: 'ns' };

describe('get', () => {
  it('brings the object, and says who asks', async () => {
    await using server = await playing(json(node('a', '7')));
    assert.deepEqual(await kubeFor(server).get(AT_NODES, 'a'), node('a', '7'));
    assert.equal(server.seen[0]?.url.pathname, '/api/v1/nodes/a');
    assert.equal(server.seen[0]?.headers['user-agent'], 'test/1');
    assert.equal(
      server.seen[0]?.headers['accept'],
      'application/json;drop=metadata.managedFields, application/json;q=0.9',
    );
  });

  it('brings null only where the server says that the object is not there', async () => {
    await using server = await playing(missing, unknown);
    const kube = kubeFor(server);
    assert.equal(await kube.get(AT_NODES, 'a'), null);
    const error = await refusalOf(kube.get({ resource: KUBELET_NODES }, 'a'));
    assert.equal(error.code, 'KUBE_NOT_FOUND');
    assert.match(error.message, /is the CRD installed\?/);
  });

  it('refuses an answer that is not an object', async () => {
    await using server = await scriptedServer();
    const kube = kubeFor(server);
    server.play(text('<html>'), json({ kind: 'Node' }), json(null), text(''));
    for (let turn = 0; turn < 4; turn += 1) {
      assert.equal((await refusalOf(kube.get(AT_NODES, 'a'))).code, 'KUBE_GARBLED');
    }
  });

  it('refuses an answer that is too long, and closes that connection', async () => {
    await using server = await playing(
      json(node('a', '1', { filler: 'x'.repeat(5 * 1024 * 1024) })),
      json(node('a', '2')),
    );
    const kube = kubeFor(server);
    const error = await refusalOf(kube.get(AT_NODES, 'a'));
    assert.equal(error.code, 'KUBE_TOO_LONG');
    assert.match(error.message, /longer than 4 MiB/);
    assert.deepEqual(await kube.get(AT_NODES, 'a'), node('a', '2'));
    assert.equal(server.accepted(), 2);
  });

  it('does not follow a redirect', async () => {
    await using server = await scriptedServer();
    server.play(text('', 302, { location: `${server.url}/elsewhere` }));
    const error = await refusalOf(kubeFor(server).get(AT_NODES, 'a'));
    assert.match(error.message, /a redirect, which is not followed/);
    assert.equal(server.seen.length, 1);
  });

  it('goes below the path of the server where it has one', async () => {
    await using server = await playing(json(node('a', '1')));
    await kubeFor({ url: `${server.url}/clusters/one/` }).get(AT_NODES, 'a');
    assert.equal(server.seen[0]?.url.pathname, '/clusters/one/api/v1/nodes/a');
  });
});

describe('list', () => {
  it('reads by pages and gives the version of the whole', async () => {
    await using server = await playing(json(list('9', [node('a', '1')], 'more')), json(list('9', [node('b', '2')])));
    const listed = await kubeFor(server).list({ ...AT_NODES, labelSelector: 'x=y', fieldSelector: 'f=g' });
    assert.deepEqual(listed, { resourceVersion: '9', items: [node('a', '1'), node('b', '2')] });
    const [first, second] = server.seen.map(({ url }) => Object.fromEntries(url.searchParams));
    assert.deepEqual(first, { labelSelector: 'x=y', fieldSelector: 'f=g', limit: '250' });
    assert.deepEqual(second, { labelSelector: 'x=y', fieldSelector: 'f=g', limit: '250', continue: 'more' });
  });

  it('reads by shorter pages where one of large objects is too long', async () => {
    await using server = await scriptedServer();
    const spaces = gzipSync(Buffer.alloc(65 * 1024 * 1024, 0x20), { level: 1 });
    server.play(
      (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(spaces),
      json(list('9', [node('a', '1')], 'more')),
      json(list('9', [node('b', '2')])),
    );
    const { items } = await kubeFor(server).list(AT_NODES);
    assert.deepEqual(items, [node('a', '1'), node('b', '2')]);
    const asked = server.seen.map(({ url }) => [url.searchParams.get('limit'), url.searchParams.get('continue')]);
    assert.deepEqual(asked, [
      ['250', null],
      ['20', null],
      ['20', 'more'],
    ]);
  });

  it('keeps of each item what the caller keeps, whether it is read by pages or in one piece', async () => {
    await using server = await playing(
      json(list('9', [node('a', '1', { filler: 'x' })], 'more')),
      json(list('9', [node('b', '2', { filler: 'x' })])),
      json(list('9', [node('a', '1', { filler: 'x' })], 'more')),
      status(410, 'the continue token is too old', { reason: 'Expired' }),
      json(list('12', [node('b', '3', { filler: 'x' })])),
    );
    const kube = kubeFor(server);
    const trim = ({ metadata }: KubeObject): KubeObject => ({ metadata });
    assert.deepEqual((await kube.list(AT_NODES, undefined, trim)).items, [node('a', '1'), node('b', '2')]);
    assert.deepEqual((await kube.list(AT_NODES, undefined, trim)).items, [node('b', '3')]);
  });

  it('comes packed where the server packs it, and nothing else is asked for so', async () => {
    await using server = await scriptedServer();
    const packed = gzipSync(JSON.stringify(list('9', [node('a', '1')])));
    server.play(
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(packed);
      },
      json(node('a', '1')),
    );
    const kube = kubeFor(server);
    assert.deepEqual(await kube.list(AT_NODES), { resourceVersion: '9', items: [node('a', '1')] });
    await kube.get(AT_NODES, 'a');
    assert.deepEqual(
      server.seen.map(({ headers }) => headers['accept-encoding']),
      ['gzip', undefined],
    );
    assert.equal(server.accepted(), 1, 'the connection is kept');
  });

  it('that was packed and is broken, cut off or too long is refused, and the next one comes whole', async () => {
    await using server = await scriptedServer();
    const head = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const packed = gzipSync(JSON.stringify(list('9', [node('a', '1')])));
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, 0x20), { level: 1 });
    server.play(
      (response) => void response.writeHead(200, head).end('this is not gzip'),
      (response) => void response.writeHead(200, head).end(packed.subarray(0, 20)),
      (response, _, socket) => {
        response.writeHead(200, head).write(packed.subarray(0, 20), () => socket.destroy());
      },
      (response) => void response.writeHead(200, head).end(bomb),
      (response) => void response.writeHead(200, head).end(bomb),
      (response) => void response.writeHead(200, head).end(packed),
    );
    const kube = kubeFor(server);
    for (let turn = 0; turn < 3; turn += 1) assert.match((await refusalOf(kube.list(AT_NODES))).code, /^KUBE_/);
    assert.match((await refusalOf(kube.list(AT_NODES))).message, /longer than 64 MiB/);
    assert.equal((await kube.list(AT_NODES)).resourceVersion, '9');
  });

  it('is read again in one piece where its moment was forgotten between pages', async () => {
    await using server = await playing(
      json(list('9', [node('a', '1')], 'more')),
      status(410, 'the continue token is too old', { reason: 'Expired' }),
      json(list('12', [node('b', '2')])),
    );
    assert.deepEqual(await kubeFor(server).list(AT_NODES), { resourceVersion: '12', items: [node('b', '2')] });
    assert.deepEqual(Object.fromEntries(server.seen[2]?.url.searchParams ?? []), {});
  });

  it('of nothing is empty, also as Go writes it', async () => {
    await using server = await playing(json({ metadata: { resourceVersion: '3' }, items: null }));
    assert.deepEqual(await kubeFor(server).list(AT_NODES), { resourceVersion: '3', items: [] });
  });

  it('of an unknown resource says that the CRD is not installed', async () => {
    await using server = await playing(unknown);
    assert.match(
      (await refusalOf(kubeFor(server).list({ resource: KUBELET_NODES }))).message,
      /is the CRD installed\?/,
    );
  });

  it('of the wrong shape is refused', async () => {
    await using server = await playing(json({ metadata: {}, items: [] }), json(list('1', [{ metadata: {} }])));
    const kube = kubeFor(server);
    assert.equal((await refusalOf(kube.list(AT_NODES))).code, 'KUBE_GARBLED');
    assert.equal((await refusalOf(kube.list(AT_NODES))).code, 'KUBE_GARBLED');
  });
});

describe('a write', () => {
  it('creates an object', async () => {
    await using server = await scriptedServer();
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'ns' }, data: { k: 'é' } };
    server.play(json(map, 201), status(409, 'there', { reason: 'AlreadyExists' }));
    const kube = kubeFor(server);
    assert.deepEqual(await kube.create(AT_MAPS, map), map);
    const [seen] = server.seen;
    assert.equal(`${seen?.method} ${seen?.url.pathname}`, 'POST /api/v1/namespaces/ns/configmaps');
    assert.equal(seen?.url.searchParams.get('fieldManager'), 'kubelet-gitops');
    assert.equal(seen?.headers['content-type'], 'application/json');
    assert.deepEqual(JSON.parse(seen?.body ?? ''), map);
    assert.equal((await refusalOf(kube.create(AT_MAPS, map))).code, 'KUBE_ALREADY_EXISTS');
  });

  it('patches an object or its status', async () => {
    await using server = await playing(
      json(node('a', '8')),
      json(node('a', '9')),
      status(409, 'changed', { reason: 'Conflict' }),
    );
    const kube = kubeFor(server);
    const patch = { metadata: { resourceVersion: '7' }, status: { phase: null } };
    await kube.mergePatch(AT_NODES, 'a', patch);
    await kube.mergePatch(AT_NODES, 'a', patch, { subresource: 'status' });
    assert.deepEqual(
      server.seen.map(({ method, url }) => `${method} ${url.pathname}`),
      ['PATCH /api/v1/nodes/a', 'PATCH /api/v1/nodes/a/status'],
    );
    assert.equal(server.seen[0]?.headers['content-type'], 'application/merge-patch+json');
    assert.deepEqual(JSON.parse(server.seen[1]?.body ?? ''), patch);
    assert.equal((await refusalOf(kube.mergePatch(AT_NODES, 'a', patch))).code, 'KUBE_CONFLICT');
  });

  it('deletes only the object that was meant, and does not mind that it is gone', async () => {
    await using server = await playing(
      status(200, ''),
      missing,
      status(409, 'another uid', { reason: 'Conflict' }),
      unknown,
    );
    const kube = kubeFor(server);
    await kube.delete(AT_NODES, 'a', { uid: 'u', resourceVersion: '3' });
    await kube.delete(AT_NODES, 'a', { uid: 'u' });
    const { preconditions } = JSON.parse(server.seen[0]?.body ?? '') as { preconditions: unknown };
    assert.deepEqual(preconditions, { uid: 'u', resourceVersion: '3' });
    assert.equal((await refusalOf(kube.delete(AT_NODES, 'a', { uid: 'u' }))).code, 'KUBE_CONFLICT');
    assert.equal((await refusalOf(kube.delete(AT_NODES, 'a', { uid: 'u' }))).code, 'KUBE_NOT_FOUND');
  });

  it('logs what the server warns of, once', async () => {
    await using server = await scriptedServer();
    const warned: unknown[] = [];
    const log = { warn: (fields: unknown) => warned.push(fields) } as unknown as Log;
    const headers = { warning: '299 - "unknown field \\"spec.x\\"", 299 - "old version"' };
    server.play(json(node('a', '1'), 200, headers), json(node('a', '2'), 200, headers));
    const kube = kubeFor(server, { log });
    await kube.mergePatch(AT_NODES, 'a', {});
    await kube.mergePatch(AT_NODES, 'a', {});
    assert.deepEqual(warned, [
      { call: 'patch nodes a', warning: 'unknown field "spec.x"' },
      { call: 'patch nodes a', warning: 'old version' },
    ]);
  });
});

describe('connections', () => {
  it('are kept: two hundred calls, one connection', async () => {
    await using server = await scriptedServer();
    const kube = kubeFor(server);
    for (let turn = 0; turn < 200; turn += 1) {
      server.play(json(node('a', String(turn))));
      await kube.get(AT_NODES, 'a');
    }
    assert.equal(server.accepted(), 1);
  });

  it('are kept after a refusal as well', async () => {
    await using server = await playing(missing, unknown, status(403, 'no'), json(node('a', '1')));
    const kube = kubeFor(server);
    await kube.get(AT_NODES, 'a');
    await refusalOf(kube.get(AT_NODES, 'a'));
    await refusalOf(kube.get(AT_NODES, 'a'));
    await kube.get(AT_NODES, 'a');
    assert.equal(server.accepted(), 1);
  });
});
