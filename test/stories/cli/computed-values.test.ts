import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createRepository, layer, pool, type TestRepository } from '../../cli/support/repository.ts';
import { run } from '../../cli/support/run.ts';
import { column } from '../../support/columns.ts';

const node = (name: string, cpu: string, memory: string) => ({
  kind: 'Node',
  metadata: { name, labels: { pool: 'w' } },
  status: {
    nodeInfo: { kubeletVersion: 'v1.36.1' },
    capacity: { cpu, memory, pods: '110', 'ephemeral-storage': '100Gi' },
    allocatable: { cpu, memory, pods: '110', 'ephemeral-storage': '90Gi' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
});
const NODES = {
  items: [node('s-1', '2', '8074020Ki'), node('s-2', '2', '8072000Ki'), node('l-1', '16', '65326000Ki')],
};

const computed = (...lines: readonly string[]): string =>
  ['apiVersion: kubelet-gitops.dev/v1alpha1', 'kind: ComputedKubeletConfiguration', ...lines, ''].join('\n');

const START = {
  'pools/w/pool.yaml': pool('w', 'w', 'layers: [kubelet.yaml]'),
  'pools/w/kubelet.yaml': layer(
    'systemReserved: {memory: 1Gi}',
    'evictionHard: {memory.available: 100Mi}',
    'kubeReserved: {memory: 1Gi}',
  ),
};
const COMPUTED = {
  'pools/w/pool.yaml': pool('w', 'w', 'layers: [kubelet.yaml, sizes.yaml]'),
  'pools/w/sizes.yaml': computed(
    'profile: gke',
    'computed:',
    "  systemReserved: {memory: 'memory * 0.05'}",
    'bounds:',
    '  systemReserved: {memory: {min: 500Mi}}',
  ),
};

describe('computed values on the command line', () => {
  let repository: TestRepository;
  before(async () => {
    repository = await createRepository();
    await repository.commit('start', START);
    await repository.commit('sizes', COMPUTED);
    await writeFile(join(repository.directory, 'nodes.json'), JSON.stringify(NODES));
  });
  after(() => repository.remove());

  const on = (command: string, ...argv: readonly string[]) =>
    run(command, '--repo', repository.directory, ...argv, '--inventory', join(repository.directory, 'nodes.json'));

  it('are shown by plan for each class of machines, with its nodes and what is left for pods', async () => {
    const { code, out } = await on('plan', '--base', 'HEAD~1', '--head', 'HEAD');
    assert.equal(code, 1, out);
    for (const line of [
      /systemReserved\.memory +"?1Gi"? +→ +"?computed: memory \* 0\.05, at least 500Mi/,
      /machines with cpu=2,memory=7680Mi \(s-1, s-2\): .*systemReserved\.memory 1Gi → 500Mi/,
      /machines with cpu=16,memory=63488Mi \(l-1\): .*kubeReserved\.memory 1Gi → 5488Mi, systemReserved\.memory 1Gi → 3174Mi/,
      /allocatable memory: .* on l-1/,
      /3 nodes, 1 at a time/,
    ]) {
      assert.match(out, line);
    }
    assert.doesNotMatch(out, /\\u0000|\0/);
    const json = await on('plan', '--base', 'HEAD~1', '--head', 'HEAD', '-o', 'json');
    const [planned] = (JSON.parse(json.out) as { pools: { classes: { name: string; nodes: string[] }[] }[] }).pools;
    assert.deepEqual(column(planned?.classes, 'nodes'), [['s-1', 's-2'], ['l-1']]);
    const markdown = await on('plan', '--base', 'HEAD~1', '--head', 'HEAD', '-o', 'markdown');
    assert.match(markdown.out, /- machines with cpu=2,memory=7680Mi \(s-1, s-2\)/);
  });

  it('are held by plan, with the machine and the reason, where there is no config for a class', async () => {
    const sizes = computed('computed: {systemReserved: {memory: \'memory - quantity("16Gi")\'}}');
    await repository.commit('too small', { 'pools/w/sizes.yaml': sizes });
    const { out } = await on('plan', '--base', 'HEAD~1', '--head', 'HEAD');
    await repository.commit('as it was', COMPUTED);
    assert.match(
      out,
      /machines with memory=7680Mi \(s-1, s-2\) keep what they have: systemReserved\.memory cannot be computed/,
    );
    assert.match(out, /1 node, 1 at a time/);
  });

  it('reach no node where they can be computed for none, which fails a pipeline', async () => {
    await repository.commit('nowhere', {
      'pools/w/sizes.yaml': computed("computed: {systemReserved: {memory: 'memory / 0.0'}}"),
    });
    const { code, out } = await on('plan', '--base', 'HEAD~1', '--head', 'HEAD');
    await repository.commit('as it was', COMPUTED);
    assert.equal(code, 3, out);
    assert.match(out, /! nodes would wait: none of its machines has a config: .*: division by zero$/m);
  });

  it('are rendered as expressions for the pool, and as values with their expression for a node', async () => {
    const whole = await on('render', 'w');
    assert.match(whole.out, /# values that begin with computed: follow the machine/);
    assert.match(whole.out, /memory: "?computed: memory \* 0\.05, at least 500Mi"? # pools\/w\/sizes\.yaml:5/);
    const small = await on('render', 's-1');
    assert.match(small.out, /memory: 500Mi # pools\/w\/sizes\.yaml:5, computed: memory \* 0\.05, at least 500Mi/);
    assert.match(small.out, /cpu: 70m # pools\/w\/sizes\.yaml:3, computed: profile gke/);
    const json = JSON.parse((await on('render', 'l-1', '-o', 'json')).out) as { config: { systemReserved: unknown } };
    assert.deepEqual(json.config.systemReserved, { memory: '3174Mi' });
  });

  it('are explained by why: expression, machine, file and line', async () => {
    const { out } = await on('why', 'l-1', 'systemReserved.memory');
    assert.match(out, /pools\/w\/kubelet\.yaml:3: "1Gi" \(overridden\)/);
    assert.match(out, /pools\/w\/sizes\.yaml:5: computed: memory \* 0\.05, at least 500Mi/);
    assert.match(out, /which is "3174Mi" for machines with cpu=16,memory=63488Mi/);
    assert.match(out, /since \w{12} "/);
    const profile = await on('why', 's-1', 'kubeReserved.memory');
    assert.match(profile.out, /pools\/w\/sizes\.yaml:3: computed: profile gke, memory </);
  });

  it('are judged by validate, and said with their place where they are wrong', async () => {
    const valid = await run('validate', repository.directory);
    assert.equal(valid.code, 0, valid.out);
    await repository.commit('wrong', { 'pools/w/sizes.yaml': computed("computed: {maxPods: 'memry / 2'}") });
    const wrong = await run('validate', repository.directory);
    await repository.commit('right', COMPUTED);
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.out,
      /pools\/w\/sizes\.yaml:3:12: error bad-expression: maxPods: Unknown variable: memry, at character 1/,
    );
  });

  it('are rolled out by simulate, and foreseen for newer kubelets', async () => {
    const simulated = await on('simulate', '--base', 'HEAD~3', '--head', 'HEAD');
    assert.match(simulated.out, /3 nodes|w/);
    assert.doesNotMatch(simulated.out, /not-computable|Waiting/);
    const foreseen = await on('foresight', '--kubelet-version', '1.34');
    assert.doesNotMatch(foreseen.out, /bad-quantity|computed/);
  });
});
