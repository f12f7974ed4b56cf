import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createPlanBench, type PlanBench, START } from '../../support/plan-bench.ts';
import { layer, pool } from '../../support/repository.ts';

const lines = (text: string, pattern: RegExp): readonly string[] =>
  text.split('\n').filter((line) => pattern.test(line));

describe('what a plan prints once', () => {
  let bench: PlanBench;
  before(async () => {
    bench = await createPlanBench();
  });
  after(() => bench.remove());
  const clusterFile = (spec: string): string => START['clusters/prod.yaml'].replace('maxUnassign: 0', spec);

  it('is all that loosens, and how far a bad config gets, under the summary', async () => {
    const change = {
      'clusters/prod.yaml': clusterFile('maxUnassign: 0, maxChange: 100%'),
      'pools/a/pool.yaml': pool('a', 'a', 'rollout: {maxUnavailable: 3, soak: 1m}', 'trial: {duration: 5m}'),
      'pools/a/kubelet.yaml': layer('maxPods: 120', 'kubeReserved: {cpu: 100m, memory: 512Mi}'),
    };
    const { out } = await bench.planned({ ...change, 'clusters/prod.yaml': clusterFile("maxUnassign: '50%'") });
    const [, summary, wide = ''] = out.split('\n\n');
    assert.match(summary ?? '', /^1 pool, 3 nodes: /);
    assert.equal(
      lines(wide, /^! a: looser limits, in nodes of 3 that a bad config reaches: rollout\.maxUnavailable /).length,
      1,
      out,
    );
    assert.equal(lines(wide, /^! clusters\/prod\.yaml: warning opens: spec\.maxUnassign: /).length, 1, out);
    assert.equal(lines(wide, /^of 3 nodes of a a bad config reaches /).length, 1, out);
    for (const said of [/looser limits/, /warning opens/, /a bad config reaches at most|a bad config reaches all/]) {
      assert.equal(lines(out, said).length, 1, `${String(said)}\n${out}`);
    }
    const comment = (
      await bench.planned({ ...change, 'clusters/prod.yaml': clusterFile("maxUnassign: '50%'") }, '-o', 'markdown')
    ).out;
    assert.equal(lines(comment, /^- 🔓 \*\*/).length, 2, comment);
    assert.ok(comment.indexOf('🔓') < comment.indexOf('####'), comment);
  });

  it('is what newer kubelets bring that are listed now, and not what was listed before', async () => {
    const listed = (versions: string) => clusterFile(`maxUnassign: 0, kubeletVersions: [${versions}]`);
    await bench.repository.commit('versions', { 'clusters/prod.yaml': listed('"1.34"') });
    const coming = async (versions: string) => {
      await bench.repository.write({ 'clusters/prod.yaml': listed(versions) });
      const { out } = await bench.planned({ 'pools/c/kubelet.yaml': layer('maxPods: 50', 'eventRecordQPS: 0') });
      return lines(out, /^ {2}! kubelet /);
    };
    assert.deepEqual(await coming('"1.34"'), []);
    const found = await coming('"1.34", "1.37"');
    assert.match(
      found[0] ?? '',
      /kubelet 1\.34 → 1\.35: failCgroupV1: no layer sets it, and its default changes: false → true \(a, b, c\)$/,
    );
    assert.match(found[1] ?? '', /kubelet 1\.36 → 1\.37: eventRecordQPS means something else: .* \(c\)$/);
    assert.equal(found.length, 2);
    assert.equal((await coming('"1.34", "1.35"')).length, 1);
    await bench.repository.commit('back', { 'clusters/prod.yaml': START['clusters/prod.yaml'] });
  });
});

describe('a value in a plan', () => {
  let bench: PlanBench;
  before(async () => {
    bench = await createPlanBench();
  });
  after(() => bench.remove());

  it('is YAML, as it would be written', async () => {
    const { out } = await bench.planned({
      'pools/a/pool.yaml': pool('a', 'a', 'rollout: {windows: {deny: [{cron: "0 0 1 * *", duration: 8h}]}}'),
      'pools/a/kubelet.yaml': layer(
        'clusterDomain: "1.30"',
        'kubeReserved: {memory: 1Gi}',
        'allowedUnsafeSysctls: ["net.*", "kernel.msg*"]',
      ),
    });
    assert.match(out, /^ {2}allowedUnsafeSysctls .*→ +\[net\.\*, kernel\.msg\*\]$/m);
    assert.match(out, /^ {2}clusterDomain .*→ +"1\.30"$/m);
    assert.match(out, /^ {2}kubeReserved\.memory +512Mi +→ +1Gi$/m);
    assert.match(out, /^ {2}rollout\.windows: not set → \{.*deny: \[\{cron: 0 0 1 \* \*, duration: 8h\}\]/m);
  });

  it('that no layer sets is what the node’s own config says, unless the pool replaces that', async () => {
    const taken = layer('kubeReserved: {cpu: 100m, memory: 512Mi}');
    const overlay = (await bench.planned({ 'pools/a/kubelet.yaml': taken })).out;
    assert.match(overlay, /^ {2}maxPods {2}110 {2}→ {2}local config \(default 110\)$/m);
    assert.match(overlay, /^local config: no layer sets the field, so the node's own config counts/m);
    await bench.repository.commit('replace', { 'pools/a/pool.yaml': pool('a', 'a', 'apply: replace') });
    const replace = (
      await bench.planned({ 'pools/a/pool.yaml': pool('a', 'a', 'apply: replace'), 'pools/a/kubelet.yaml': taken })
    ).out;
    assert.match(replace, /^ {2}maxPods {2}110 {2}→ {2}not set \(default 110\)$/m);
    assert.doesNotMatch(replace, /local config/);
    await bench.repository.commit('back', { 'pools/a/pool.yaml': START['pools/a/pool.yaml'] });
  });

  it('costs no drain where it is of a first config, or of the way back to local', async () => {
    const changed = layer('topologyManagerPolicy: best-effort');
    const first = { 'pools/new/pool.yaml': pool('new', 'new'), 'pools/new/kubelet.yaml': changed };
    const { out } = await bench.planned(first);
    assert.match(out, /^ {2}cost: restart of the kubelet$/m);
    assert.match(out, /^ {2}! topologyManagerPolicy: .*no node is drained for its first config/m);
    const drained = await bench.planned({
      'pools/b/kubelet.yaml': layer('maxPods: 50', 'topologyManagerPolicy: best-effort'),
    });
    assert.match(drained.out, /^ {2}cost: drain of the node/m);
  });
});
