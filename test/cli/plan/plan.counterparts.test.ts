import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { addProofs, type PayloadProof } from '#reconciler/policy/following/payload-proofs.ts';
import { nativeGit, WITHOUT_GIT } from '../../sandbox/git-server/support/native-git.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { createPlanBench, type PlanBench, START } from '../support/plan-bench.ts';
import { layer } from '../support/repository.ts';

const cluster = (spec: string): string =>
  `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {maxUnassign: 0${spec}}\n`;
const CHANGE = { 'pools/a/kubelet.yaml': layer('maxPods: 120'), 'pools/b/kubelet.yaml': layer('maxPods: 60') };
const proof = (pool: string): PayloadProof => ({ pool, class: '', payload: 'overlay x' });

describeOrSkip('kubelet-gitops plan of a cluster that follows others', { skip: WITHOUT_GIT }, () => {
  let bench: PlanBench;
  before(async () => {
    bench = await createPlanBench();
  });
  after(() => bench.remove());

  async function proves(name: string, ...pools: readonly string[]): Promise<void> {
    const git = nativeGit(bench.repository.directory);
    const written = async (input: string, ...words: readonly string[]): Promise<string> =>
      (await git.feed(input, ...words)).out.trim();
    const blob = await written(addProofs(name, null, pools.map(proof)), 'hash-object', '-w', '--stdin');
    const tree = await written(`100644 blob ${blob}\tpayloads.json\n`, 'mktree');
    const commit = await git('-c', 'user.name=s', '-c', 'user.email=s', 'commit-tree', '-m', 'Notes', tree);
    await git('update-ref', `refs/notes/kubelet-gitops/${name}`, commit.trim());
  }
  const follows = async (spec: string): Promise<void> =>
    void (await bench.repository.commit('follow', {
      ...START,
      'clusters/staging.yaml': cluster(''),
      'clusters/prod.yaml': cluster(`, follows: {clusters: [staging]${spec}}`),
    }));
  const planned = async (): Promise<string> => (await bench.planned(CHANGE, '--cluster', 'prod')).out;

  it('says what these prove nothing of, by the notes that are here', async () => {
    await follows('');
    assert.doesNotMatch(await planned(), /proves nothing/, 'there are no notes here');
    await proves('staging', 'a');
    assert.match(await planned(), /^! staging proves nothing of b$/m);
    assert.match(
      (await bench.planned(CHANGE, '--cluster', 'prod', '-o', 'markdown')).out,
      /^staging proves nothing of b$/m,
    );
    await follows(', require: payloads');
    assert.match(await planned(), /^! staging proves nothing of b: it would wait for kubelet-gitops approve$/m);
    await proves('staging', 'a', 'b');
    assert.doesNotMatch(await planned(), /proves nothing/);
  });
});
