import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createConfigSource } from '#reconciler/cluster/create-config-source.ts';
import { POOL_LABEL } from '#shared/contract/api/group.ts';
import { CONFIG_MAPS } from '#shared/kube/kube.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { validPool } from '../../support/fleet.ts';
import { aSandbox } from '../../sandbox/api-server/support/sandbox.ts';

const NAMESPACE = 'kubelet-gitops';
const { configName: name, sha256, payload } = validPool('workers', 110);
const STEP = { step: 'create-config-source', pool: 'workers', config: { name, sha256, payload }, commit: '' } as const;
const never = new AbortController().signal;

it('makes the ConfigMap of a payload, and takes one of ours that is there for it', async () => {
  await using sandbox = await aSandbox();
  for (let time = 0; time < 2; time += 1) await createConfigSource(sandbox.kube, STEP, NAMESPACE, never);
  const made = await sandbox.kube.get({ resource: CONFIG_MAPS, namespace: NAMESPACE }, name);
  assert.equal(made?.metadata.labels?.[POOL_LABEL], 'workers');
});

it('says so where a ConfigMap of the name is there that nobody would see as ours, and leaves that alone', async () => {
  await using sandbox = await aSandbox();
  const place = { resource: CONFIG_MAPS, namespace: NAMESPACE };
  const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data: {} };
  const before = await sandbox.kube.create(place, theirs);
  await assert.rejects(createConfigSource(sandbox.kube, STEP, NAMESPACE, never), (error) => {
    assert.ok(error instanceof GitopsError);
    assert.equal(error.code, 'CONFIG_SOURCE_TAKEN');
    assert.match(error.message, /kubelet-gitops\/workers-\w+ is there and does not have our labels .*: delete it/);
    return true;
  });
  assert.deepEqual(await sandbox.kube.get(place, name), before);
});
