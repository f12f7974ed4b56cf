import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createPlanBench, type PlanBench } from '../../support/plan-bench.ts';
import { layer, pool } from '../../support/repository.ts';
import { run } from '../../support/run.ts';

describe('kubelet-gitops plan, as people see it,', () => {
  let bench: PlanBench;
  before(async () => {
    bench = await createPlanBench();
  });
  after(() => bench.remove());

  it('tells pools that change alike once, and of which no node is', async () => {
    const files = { 'pools/b/kubelet.yaml': layer('maxPods: 51'), 'pools/c/kubelet.yaml': layer('maxPods: 51') };
    const { out } = await bench.planned(files);
    assert.match(out, /^Pools b, c change alike\n {2}maxPods {2}50 {2}→ {2}51\n/m);
    assert.match(out, /^ {2}b: 1 node, 1 at a time, in 1 step; .*\n {4}order: b-1\n {2}no node belongs to c\n/m);
    assert.equal(out.match(/maxPods {2}50/g)?.length, 1);
    const markdown = (await bench.planned(files, '-o', 'markdown')).out;
    assert.match(markdown, /^#### Pools b, c change alike$/m);
  });

  it('shows selectors as kubectl has them, and names nodes that two pools want together', async () => {
    const { out } = await bench.planned({ 'pools/b/pool.yaml': pool('b', 'a') });
    assert.match(out, /^ {2}nodeSelector: pool=b → pool=a$/m);
    assert.match(
      out,
      /^Conflict: 3 nodes \(a-1, a-2, a-3\) are left as they are: a and b select them with the same priority\. Give one of the pools a higher one$/m,
    );
  });

  it('can be shown to people and on a pull request, without letting anybody’s text become markup', async () => {
    const files = {
      'pools/a/kubelet.yaml': layer(
        'maxPods: 60',
        'clusterDomain: "x|<b>`y`"',
        'kubeReserved: {cpu: 100m, memory: 512Mi}',
      ),
    };
    const text = await bench.planned(files);
    assert.equal(text.code, 1);
    assert.match(text.out, /^Pool a changes\n {2}clusterDomain {2}local config .*\n {2}maxPods .*110 .*→ {2}60\n/m);
    assert.match(text.out, /3 nodes, 2 at a time, in 2 steps; about 13 min if all goes well/);
    const { out } = await bench.planned(files, '-o', 'markdown');
    assert.match(out, /^<!-- kubelet-gitops plan: prod -->\n/);
    assert.match(out, /\| `maxPods` \| `110` \| `60` \| restart of the kubelet \|/);
    assert.match(out, /\| `clusterDomain` \| `local config` \| `` x\\\|<b>`y` `` \|/);
  });

  it('names fields with the same risk together', async () => {
    const files = { 'pools/a/kubelet.yaml': layer('maxPods: 110', 'kubeReserved: {cpu: 200m, memory: 1Gi}') };
    const { out } = await bench.planned(files);
    assert.match(out, /^ {2}! kubeReserved\.cpu, kubeReserved\.memory: changes what is left for pods/m);
    const markdown = (await bench.planned(files, '-o', 'markdown')).out;
    assert.match(markdown, /^- ⚠️ `kubeReserved\.cpu`, `kubeReserved\.memory`: changes what is left for pods/m);
  });

  it('says where a cluster is named that has no file while others have one', async () => {
    const { err } = await bench.planned({ 'pools/b/kubelet.yaml': layer('maxPods: 51') }, '--cluster', 'pord');
    assert.equal(
      err,
      'there is no clusters/pord.yaml, so nothing new is started in pord; there is clusters/prod.yaml\n',
    );
  });

  it('cannot run where something is missing, and says what', async () => {
    const at = ['--repo', bench.repository.directory] as const;
    assert.match((await run('plan', ...at, '--base', 'nope')).err, /there is no revision nope/);
    assert.match(
      (await run('plan', ...at, '--base', 'HEAD', '--inventory', '/nope.json')).err,
      /Make one with kubectl get nodes/,
    );
    assert.match((await run('plan', '--repo', '/')).err, /is in no git repository/);
  });

  it('says which nodes it knows nothing of', async () => {
    await bench.repository.write({ 'pools/b/kubelet.yaml': layer('maxPods: 51') });
    const { out } = await run('plan', '--repo', bench.repository.directory, '--base', 'HEAD', '--head', '.');
    assert.match(out, /\n\nNo nodes were given/);
    await bench.repository.write({ 'pools/b/kubelet.yaml': layer('maxPodz: 51') });
    const invalid = await run('plan', '--repo', bench.repository.directory, '--base', 'HEAD', '--head', '.');
    assert.match(invalid.out, /maxPodz.*\n\nNo nodes were given/);
    await bench.repository.write({ 'pools/b/kubelet.yaml': layer('maxPods: 50') });
  });
});
