import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sourceObject } from '../../support/source-object.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { aCluster } from '../support/cluster.ts';
import { createRepository, layer, pool, type TestRepository } from '../support/repository.ts';

/** A repository whose second commit the cluster refused: the third one brings both changes. */
describe('kubelet-gitops plan, where the base is not in force', () => {
  let repository: TestRepository;
  let inForce = '';
  let refused = '';
  before(async () => {
    repository = await createRepository();
    inForce = await repository.commit('start', {
      'clusters/prod.yaml': 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {}\n',
      'pools/a/pool.yaml': pool('a', 'a'),
      'pools/a/kubelet.yaml': layer('maxPods: 110'),
      'pools/b/pool.yaml': pool('b', 'b'),
      'pools/b/kubelet.yaml': layer('maxPods: 110'),
    });
    refused = await repository.commit('too much', { 'pools/a/kubelet.yaml': layer('maxPods: 120') });
    await repository.commit('a little', { 'pools/b/kubelet.yaml': layer('maxPods: 130') });
  });
  after(() => repository.remove());

  async function planned(state: { readonly commit: string; readonly cluster: string }, ...more: readonly string[]) {
    await using cluster = await aCluster();
    cluster.sandbox.server.store.seed(KUBELET_SOURCES, sourceObject(state));
    return await cluster.cli('plan', '--repo', repository.directory, '--base', refused, ...more);
  }

  it('says which commit is, and how to see all that would come into force', async () => {
    const { out } = await planned({ commit: inForce, cluster: 'prod' });
    const short = inForce.slice(0, 12);
    const said = `The base is not in force there; ${short} is. --base ${short} shows all that would come into force`;
    assert.equal(out.split('\n')[1], said);
    assert.match(
      (await planned({ commit: inForce, cluster: 'prod' }, '-o', 'markdown')).out,
      /\[!WARNING\]\n> The base/,
    );
    const all = await planned({ commit: inForce, cluster: 'prod' }, '--base', short);
    assert.match(all.out, /^Pool a changes$[^]*^Pool b changes$/m);
    assert.doesNotMatch(all.out, /not in force/);
  });

  it('says nothing of it where the base is in force, nobody knows, or the cluster or the repository is another one', async () => {
    const [same, unknown, other, foreign] = await Promise.all([
      planned({ commit: refused, cluster: 'prod' }),
      planned({ commit: '', cluster: '' }),
      planned({ commit: inForce, cluster: 'elsewhere' }),
      planned({ commit: 'c'.repeat(40), cluster: 'prod' }),
    ]);
    for (const { out } of [same, unknown, other, foreign]) assert.match(out, /^From [^\n]*\n\nPool b changes\n/);
  });
});
