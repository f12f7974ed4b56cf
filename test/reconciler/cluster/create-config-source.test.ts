import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fetchPayload } from '#agent/staging/fetch-payload.ts';
import { type CreatePorts, createConfigSource } from '#reconciler/cluster/create-config-source.ts';
import { createFallbackNames } from '#reconciler/cluster/fallback-names.ts';
import { CONFIG_SOURCE_SELECTOR } from '#reconciler/cluster/object-views.ts';
import { DEFAULT_TRIAL } from '#shared/contract/api/kubelet-node.ts';
import { MANAGED_BY, MANAGED_BY_LABEL, PAYLOAD_KEY, POOL_LABEL } from '#shared/contract/api/group.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { isOtherNameOf } from '#shared/contract/config-map-hash.ts';
import { CONFIG_MAPS } from '#shared/kube/kube.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { validPool } from '../../support/fleet.ts';
import { aSandbox, type ApiServerSandbox } from '../../sandbox/api-server/support/sandbox.ts';

const NAMESPACE = 'kubelet-gitops';
const PLACE = { resource: CONFIG_MAPS, namespace: NAMESPACE };
const { configName: name, sha256, payload } = validPool('workers', 110);
const STEP = { step: 'create-config-source', pool: 'workers', config: { name, sha256, payload }, commit: '' } as const;
const LABELS = { [MANAGED_BY_LABEL]: MANAGED_BY, [POOL_LABEL]: 'workers' };
const never = new AbortController().signal;

function portsOf({ kube }: ApiServerSandbox): CreatePorts & { readonly warned: string[] } {
  const warned: string[] = [];
  const warn = (fields: { readonly config: string }): void => void warned.push(fields.config);
  const log = { ...silentLog, warn };
  return { kube, namespace: NAMESPACE, otherNames: createFallbackNames(), log, warned };
}

/** Ours, without the one that stands in the way. */
async function otherSources({ kube }: ApiServerSandbox): Promise<readonly KubeObject[]> {
  const { items } = await kube.list<KubeObject>({ ...PLACE, labelSelector: CONFIG_SOURCE_SELECTOR }, never);
  return items.filter(({ metadata }) => metadata.name !== name);
}

const others = async (sandbox: ApiServerSandbox): Promise<readonly string[]> =>
  (await otherSources(sandbox)).map(({ metadata }) => metadata.name);

it('makes the ConfigMap of a payload, and takes one of ours that is there for it', async () => {
  await using sandbox = await aSandbox();
  const ports = portsOf(sandbox);
  for (let time = 0; time < 2; time += 1) await createConfigSource(ports, STEP, never);
  const made = await sandbox.kube.get(PLACE, name);
  assert.equal(made?.metadata.labels?.[POOL_LABEL], 'workers');
  assert.deepEqual([await others(sandbox), ports.warned], [[], []]);
});

for (const [what, theirs] of [
  ['without our labels', { immutable: true, data: { [PAYLOAD_KEY]: payload } }],
  ['with other bytes', { metadata: { labels: LABELS }, immutable: true, data: { [PAYLOAD_KEY]: '{}' } }],
  ['that can be edited', { metadata: { labels: LABELS }, data: { [PAYLOAD_KEY]: payload } }],
  ['with nothing in it', {}],
] as const) {
  it(`gives the payload another name where a ConfigMap ${what} has its own, and leaves that alone`, async () => {
    await using sandbox = await aSandbox();
    const ports = portsOf(sandbox);
    const metadata = { ...('metadata' in theirs ? theirs.metadata : {}), name, namespace: NAMESPACE };
    const before = await sandbox.kube.create(PLACE, { apiVersion: 'v1', kind: 'ConfigMap', ...theirs, metadata });
    // Asked again before a watch shows the new one: it is known by what it carries.
    for (let time = 0; time < 2; time += 1) await createConfigSource(ports, STEP, never);
    const [other = '', ...more] = await others(sandbox);
    assert.ok(isOtherNameOf(other, 'workers', payload), other);
    assert.deepEqual([more, ports.warned], [[], [other]]);
    assert.deepEqual(await sandbox.kube.get(PLACE, name), before);
    const made = await sandbox.kube.get(PLACE, other);
    const { uid = '', resourceVersion = '' } = made?.metadata ?? {};
    const source = { namespace: NAMESPACE, name: other, uid, resourceVersion, key: PAYLOAD_KEY, sha256 };
    const terms = { trial: DEFAULT_TRIAL, drift: 'repair', allowFields: [], tolerate: [] };
    const config = { source, apply: 'overlay', ...terms } as unknown as Parameters<typeof fetchPayload>[1];
    assert.deepEqual(await fetchPayload(sandbox.kube, config, never), { payload }, 'an agent takes it');
  });
}

it('gives names that nobody can foresee, and says so once it does not help any more', async () => {
  await using sandbox = await aSandbox();
  await sandbox.kube.create(PLACE, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE } });
  const ports = portsOf(sandbox);
  for (let time = 0; time < 5; time += 1) {
    await createConfigSource(ports, STEP, never);
    // Somebody who may delete or relabel ConfigMaps takes each away.
    for (const { metadata } of await otherSources(sandbox)) {
      await sandbox.kube.delete(PLACE, metadata.name, { uid: metadata.uid ?? '' }, never);
    }
  }
  assert.equal(new Set(ports.warned).size, 5);
  await assert.rejects(createConfigSource(ports, STEP, never), (error) => {
    assert.ok(error instanceof GitopsError);
    assert.equal(error.code, 'CONFIG_SOURCE_TAKEN');
    assert.match(
      error.message,
      /kubelet-gitops\/workers-\w+ is there and is not ours, .* taken away 5 times.*: delete it/,
    );
    return true;
  });
});

it('names a payload otherwise so that no pool, and no other payload, has that name', () => {
  const next = createFallbackNames().next(name, 'workers', payload) ?? '';
  assert.match(next, /^workers\.[0-9a-f]{8}-[a-z0-9]{10}$/);
  assert.equal(isOtherNameOf(next, 'workers', payload), true);
  assert.equal(isOtherNameOf(next, 'workers', `${payload}\n`), false);
  assert.equal(isOtherNameOf(next, 'worker', payload), false);
  assert.equal(isOtherNameOf(name, 'workers', payload), false);
});
