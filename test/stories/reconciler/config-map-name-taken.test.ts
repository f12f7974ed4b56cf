import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withFields } from '#sandbox/demo/template-repository.ts';
import type { Sandbox } from '#sandbox/sandbox.ts';
import { configMapName, isOtherNameOf } from '#shared/contract/config-map-hash.ts';
import { PAYLOAD_KEY } from '#shared/contract/api/group.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS } from '#shared/kube/kube.ts';
import { quickFiles, startWorld } from '../support.ts';

const LAYER = 'pools/general/kubelet.yaml';
const PLACE = { resource: CONFIG_MAPS, namespace: 'kubelet-gitops' };

interface Config extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

describe('whoever may create ConfigMaps, where no admission policy refuses it,', () => {
  let world: Sandbox;
  let files: Record<string, string>;

  before(async () => {
    world = await startWorld();
    files = { ...(await quickFiles()) };
    await commit(files);
    await settled('');
  });
  after(() => world.stop());

  const commit = (all: Readonly<Record<string, string>>) => world.git.commit({ files: all, message: 'Change' });
  const settled = (not: string) =>
    world.until('the pool is settled on another config', ({ pools }) =>
      pools.some(
        ({ metadata, status }) =>
          metadata.name === 'general' && status?.phase === 'Settled' && (status.configName ?? '') !== not,
      ),
    );

  it('does not hold a commit up by taking the name of its config: it is rolled out under another', async () => {
    const { pools } = await world.status();
    const present = pools.find(({ metadata }) => metadata.name === 'general')?.status?.configName ?? '';
    const { data = {} } = (await world.kube.get<Config>(PLACE, present)) ?? {};
    // As anybody computes it from the pull request.
    const payload = (data[PAYLOAD_KEY] ?? '').replace(/"maxPods": ?\d+/, (found) => found.replace(/\d+$/, '77'));
    assert.notEqual(payload, data[PAYLOAD_KEY]);
    const name = configMapName('general', payload);
    const squat = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: PLACE.namespace } };
    const theirs = await world.kube.create(PLACE, squat);
    await commit({ ...files, [LAYER]: withFields(files[LAYER] ?? '', { maxPods: 77 }) });
    const { pools: now, nodes } = await settled(present);
    const { configName = '', conditions = [] } = now.find(({ metadata }) => metadata.name === 'general')?.status ?? {};
    assert.ok(isOtherNameOf(configName, 'general', payload), configName);
    const node = nodes.find(({ metadata }) => metadata.name === 'worker-1');
    assert.deepEqual([node?.spec?.configSource?.name, node?.status?.active?.name], [configName, configName]);
    assert.deepEqual(await world.kube.get(PLACE, name), theirs, 'it may be somebody’s');
    assert.match(JSON.stringify(conditions), /not ours had the name general-/);
  });
});
