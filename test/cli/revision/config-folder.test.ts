import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createRepository, layer, pool, type TestRepository } from '../support/repository.ts';
import { run } from '../support/run.ts';

const NODES = { items: [{ metadata: { name: 'n-1', labels: { pool: 'edge' } }, status: {} }] };

/** Two config repositories in one checkout: at the root and in a folder. */
const files = (root: number, edge: number) => ({
  'pools/main/pool.yaml': pool('main', 'main'),
  'pools/main/kubelet.yaml': layer(`maxPods: ${root}`),
  'infra/edge/pools/edge/pool.yaml': pool('edge', 'edge'),
  'infra/edge/pools/edge/kubelet.yaml': layer(`maxPods: ${edge}`),
});

describe('the config repository that a command is about', () => {
  let both: TestRepository;
  let below: TestRepository;
  before(async () => {
    [both, below] = [await createRepository(), await createRepository()];
    await both.commit('start', files(10, 20));
    await both.commit('edge', files(10, 30));
    const { 'infra/edge/pools/edge/pool.yaml': one, 'infra/edge/pools/edge/kubelet.yaml': two } = files(10, 20);
    await below.commit('start', { 'infra/edge/pools/edge/pool.yaml': one, 'infra/edge/pools/edge/kubelet.yaml': two });
    await below.commit('more', { 'infra/edge/pools/edge/kubelet.yaml': layer('maxPods: 30'), 'docs/a.yaml': 'a: 1\n' });
    await writeFile(join(both.directory, 'nodes.json'), JSON.stringify(NODES));
    await mkdir(join(both.directory, 'infra/edge/docs'));
  });
  after(async () => {
    await both.remove();
    await below.remove();
  });

  it('is the folder that is named, or the nearest above it, and never another one', async () => {
    for (const folder of ['infra/edge', 'infra/edge/pools', 'infra/edge/pools/edge', 'infra/edge/docs']) {
      const { code, out, err } = await run('plan', '--repo', join(both.directory, folder), '--head', 'HEAD');
      assert.equal(code, 1, out);
      assert.match(out, /^Pool edge changes\n {2}maxPods +20 +→ +30$/m);
      assert.match(err, /^reading infra\/edge\/ of .*, as with --path infra\/edge$/m);
      assert.match((await run('render', 'edge', '--repo', join(both.directory, folder))).out, /^maxPods: 30 /m);
    }
    for (const folder of ['', 'pools', 'infra']) {
      const { code, out } = await run('plan', '--repo', join(both.directory, folder), '--head', 'HEAD');
      assert.deepEqual([code, out.split('\n')[2]], [0, 'Nothing changes.'], folder);
    }
  });

  it('is refused where there is none, with the folder that has one', async () => {
    const inventory = join(both.directory, 'nodes.json');
    for (const argv of [
      ['plan'],
      ['render', 'edge'],
      ['why', 'n-1', 'maxPods', '--inventory', inventory],
      ['simulate', '--inventory', inventory],
    ]) {
      const { code, err } = await run(...argv, '--repo', below.directory);
      assert.equal(code, 2, err);
      assert.match(err, /there is no pools\/ in .*: it is elsewhere: --path infra\/edge$/m);
      const inside = await run(...argv, '--repo', join(below.directory, 'docs'));
      assert.equal(inside.code, 2);
      assert.match(inside.err, /docs has no pools\/, nor has a folder above it in .*--path FOLDER/);
      assert.notEqual((await run(...argv, '--repo', below.directory, '--path', 'infra/edge')).code, 2);
    }
  });
});

describe('the revision that is read where none is named', () => {
  let repository: TestRepository;
  const at = (...argv: readonly string[]) => run(...argv, '--repo', repository.directory);
  const nodes = () => ['--inventory', join(repository.directory, 'nodes.json')];
  before(async () => {
    repository = await createRepository();
    await writeFile(join(repository.directory, 'nodes.json'), JSON.stringify(NODES));
    await repository.write({ 'pools/e/pool.yaml': pool('e', 'edge'), 'pools/e/kubelet.yaml': layer('maxPods: 1') });
  });
  after(() => repository.remove());

  it('is the files as they lie there, before the first commit as well', async () => {
    assert.match((await at('render', 'e')).out, /^# as of the working copy\n[^]*^maxPods: 1 /m);
    assert.match((await at('plan')).out, /^From nothing to the working copy, [^]*Pool e is new/);
    assert.match(
      (await at('why', 'n-1', 'maxPods', ...nodes())).out,
      /kubelet\.yaml:3: 1\n {2}it is not committed yet/,
    );
  });

  it('is HEAD where all is committed, which is compared with the commit before', async () => {
    await repository.commit('one', {
      'pools/e/pool.yaml': pool('e', 'edge'),
      'pools/e/kubelet.yaml': layer('maxPods: 1'),
    });
    await repository.commit('two', { 'pools/e/kubelet.yaml': layer('maxPods: 2') });
    assert.match((await at('render', 'e')).out, /^# as of HEAD \(\w{12}\)\n[^]*^maxPods: 2 /m);
    assert.match((await at('plan')).out, /^From HEAD~1 \(\w{12}\) to HEAD \(\w{12}\), [^]*maxPods +1 +→ +2/);
    const { out } = await at('why', 'n-1', 'maxPods', ...nodes());
    assert.match(out, /^ {2}as of HEAD \(\w{12}\)$[^]*:3: 2\n {2}since \w{12} "two"/m);
  });

  it('is an edit that is not committed, with the file that differs, compared with HEAD', async () => {
    await repository.write({ 'pools/e/kubelet.yaml': layer('# more', 'maxPods: 3') });
    const label = 'the working copy (not committed: pools/e/kubelet.yaml)';
    assert.ok((await at('render', 'e')).out.includes(`# as of ${label}\n`));
    assert.ok((await at('plan')).out.includes(` to ${label}, for cluster `));
    assert.match((await at('plan')).out, /^From HEAD \(\w{12}\) to [^]*maxPods +2 +→ +3/);
    const { out } = await at('why', 'n-1', 'maxPods', ...nodes());
    assert.match(out, /kubelet\.yaml:4: 3\n {2}it is not committed yet/);
    assert.match((await at('render', 'e', '--revision', 'HEAD')).out, /^maxPods: 2 /m);
    const json = JSON.parse((await at('render', 'e', '-o', 'json')).out) as { readonly revision: string };
    assert.equal(json.revision, label);
  });

  it('counts a layer that a pool names, wherever it lies', async () => {
    const spec = pool('e', 'edge', 'layers: [teams/e.yaml]');
    await repository.commit('three', { 'pools/e/pool.yaml': spec, 'pools/e/kubelet.yaml': null });
    await repository.write({ 'teams/e.yaml': layer('maxPods: 9'), 'teams/other.yaml': layer('maxPods: 8') });
    assert.match((await at('render', 'e')).out, /not committed: teams\/e\.yaml\)\n[^]*^maxPods: 9 /m);
    await repository.commit('four', {
      'pools/e/pool.yaml': pool('e', 'edge'),
      'pools/e/kubelet.yaml': layer('maxPods: 2'),
    });
  });

  it('names the commit of a value that an uncommitted edit of the same file leaves alone', async () => {
    await repository.write({ 'pools/e/kubelet.yaml': layer('maxPods: 2', 'podPidsLimit: 100') });
    assert.match((await at('why', 'n-1', 'maxPods', ...nodes())).out, /since \w{12} "four"/);
    assert.match((await at('why', 'n-1', 'podPidsLimit', ...nodes())).out, /it is not committed yet/);
  });
});
