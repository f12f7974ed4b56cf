import assert from 'node:assert/strict';
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { validatePath } from '#cli/validate/validate-path.ts';
import { run } from '../support/run.ts';
import { columns } from '../../support/columns.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('kubelet-gitops validate', () => {
  const directory = temporaryDirectory();
  before(async () => {
    await cp('config-repo-template', directory, { recursive: true });
  });

  const validate = async (...versions: readonly string[]) => {
    const options = versions.flatMap((version) => ['--kubelet-version', version]);
    const { code, out } = await run('validate', directory, ...options);
    return { code, text: out };
  };

  it('has nothing to say about the template', async () => {
    assert.deepEqual(await validate(), { code: 0, text: '3 pools: nothing found\n' });
  });

  it('follows a symbolic link that is named, and the one to a file', async () => {
    const [toRepository, toFile] = [`${directory}-link`, `${directory}-file`];
    await symlink(directory, toRepository);
    await symlink(join(directory, 'base/common.yaml'), toFile);
    try {
      assert.deepEqual(await run('validate', toRepository).then(({ out }) => out), '3 pools: nothing found\n');
      assert.deepEqual(await run('validate', toFile).then(({ out }) => out), '1 file: nothing found\n');
    } finally {
      await Promise.all([rm(toRepository), rm(toFile)]);
    }
  });

  it('has nothing to say about the template for any kubelet from 1.27 on', async () => {
    const versions = Array.from({ length: 10 }, (_, index) => `1.${27 + index}`);
    assert.deepEqual(await validate(...versions), { code: 0, text: '3 pools: nothing found\n' });
  });

  it('says which kubelets do not know a field', async () => {
    const { code, text } = await validate('1.26');
    assert.equal(code, 1);
    assert.match(text, /^base\/common\.yaml:33:1: error unknown-field: .*maxParallelImagePulls.*it came with 1\.27/m);
  });

  it('finds everything at once, each with file, line and column', async () => {
    const gpu = join(directory, 'pools/gpu/kubelet.yaml');
    const good = await readFile(gpu, 'utf8');
    await writeFile(gpu, `${good}maxPodz: 200\nsyncFrequency: 1 minute\n`);
    await symlink('/etc/passwd', join(directory, 'base/extra.yaml'));
    const { code, text } = await validate();
    assert.equal(code, 1);
    const lines = good.split('\n').length;
    assert.match(
      text,
      new RegExp(`^pools/gpu/kubelet\\.yaml:${lines}:1: error unknown-field: .*maxPodz.*maxPods`, 'm'),
    );
    assert.match(text, new RegExp(`^pools/gpu/kubelet\\.yaml:${lines + 1}:\\d+: error .*syncFrequency`, 'm'));
    assert.doesNotMatch(text, /extra/, 'no pool names it');
    await Promise.all([writeFile(gpu, good), rm(join(directory, 'base/extra.yaml'))]);
  });

  it('finds what keeps a pool from its files where the reconciler does, and nothing that no pool refers to', async () => {
    const dotGit = join(directory, 'pools/gpu/.git');
    const layer = join(directory, 'base/common.yaml');
    await writeFile(dotGit, 'gitdir: ../../.git/modules/gpu\n');
    await rename(layer, `${layer}.txt`);
    await symlink('common.yaml.txt', layer);
    await writeFile(join(directory, 'base/a:b.yaml'), 'a: 1\n');
    await writeFile(join(directory, 'pools/README:'), '');
    await writeFile(join(directory, 'Icon\r'), '');
    const { code, text } = await validate();
    await Promise.all([rm(dotGit), rename(`${layer}.txt`, layer)]);
    for (const odd of ['base/a:b.yaml', 'pools/README:', 'Icon\r']) await rm(join(directory, odd));
    assert.equal(code, 1);
    const lines = text.trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => line.replace(/^(\S+?)(?::\d+:\d+)?: error (\S+): .*/, '$1 $2')),
      [
        'base/common.yaml symlink',
        'pools/control-plane/pool.yaml missing-layer',
        'pools/general/pool.yaml missing-layer',
        'pools/gpu submodule',
        'pools/gpu/pool.yaml missing-pool',
        '3 pools: 5 errors, 0 warnings',
      ],
    );
  });

  it('warns of what a pool tolerates, and can end well all the same', async () => {
    const pool = join(directory, 'pools/gpu/pool.yaml');
    const layer = join(directory, 'pools/gpu/kubelet.yaml');
    const good = [await readFile(pool, 'utf8'), await readFile(layer, 'utf8')] as const;
    await writeFile(pool, `${good[0].trimEnd()}\n  tolerate: [unknown-field]\n`);
    await writeFile(layer, `${good[1]}maxPodz: 200\n`);
    const { files } = await validatePath(directory, { cluster: undefined, versions: ['1.33'] });
    const file = files.find(({ path }) => path === 'pools/gpu/kubelet.yaml');
    assert.equal(file?.verdicts['1.33'], 'warn');
    assert.deepEqual(columns(file.findings, 'code', 'severity'), [['unknown-field', 'warning']]);
    const gpu = [directory, '--fail-on', 'error'] as const;
    assert.equal((await validate()).code, 1);
    assert.equal((await run('validate', ...gpu)).code, 0);
    await Promise.all([writeFile(pool, good[0]), writeFile(layer, good[1])]);
  });

  it('finds the file of a cluster that no reconciler would read under its name', async (t) => {
    const root = temporaryDirectory(t);
    await cp('config-repo-template', root, { recursive: true });
    await rename(join(root, 'clusters/demo.yaml'), join(root, 'clusters/prod.yml'));
    await writeFile(join(root, 'clusters/README.md'), 'One file a cluster.\n');
    const { code, out } = await run('validate', root);
    assert.match(out, /^clusters\/prod\.yml: error misnamed-cluster: .*rename it to clusters\/prod\.yaml/);
    assert.deepEqual([code, out.trimEnd().split('\n').at(-1)], [1, '3 pools: 1 error, 0 warnings']);
  });

  it('says where a cluster is named that has no file while others have one', async () => {
    const { err, code } = await run('validate', directory, '--cluster', 'dmeo');
    assert.equal(
      err,
      'there is no clusters/dmeo.yaml, so nothing new is started in dmeo; there is clusters/demo.yaml\n',
    );
    assert.equal(code, 1, 'the reconciler would start nothing new');
    assert.equal((await run('validate', directory, '--cluster', 'demo')).err, '');
  });

  it('is not content with single files where config repositories lie in the directory, and names the only one', async (t) => {
    const root = temporaryDirectory(t);
    for (const [name, said] of [
      ['a', /: it is not a config repository; did you mean \S+\/a\?$/m],
      ['b', /: it is not a config repository, but holds 2 of them: name one$/m],
    ] as const) {
      await mkdir(join(root, name, 'pools', 'general'), { recursive: true });
      await writeFile(join(root, name, 'pools', 'general', 'pool.yaml'), '');
      const { code, err } = await run('validate', root);
      assert.equal(code, 2);
      assert.match(err, said);
    }
  });

  it('takes no schema and no definition for a config because it speaks of the kind', async (t) => {
    const root = temporaryDirectory(t);
    await writeFile(join(root, 'schema.json'), '{"properties": {"kind": {"const": "KubeletConfiguration"}}}');
    await writeFile(join(root, 'crd.yaml'), 'kind: CustomResourceDefinition\n# of a KubeletConfiguration\n');
    const header = '"apiVersion": "kubelet.config.k8s.io/v1beta1"';
    await writeFile(join(root, 'a.json'), `{${header}, "kind": "KubeletConfiguration"}`);
    await writeFile(join(root, 'b.yaml'), `${header}\nkind: KubeletConfiguration\n`);
    assert.equal((await run('validate', root)).out, '2 files: nothing found\n');
  });

  it('says so where there is nothing to validate', async () => {
    const { code, err } = await run('validate', join(directory, 'scripts'));
    assert.equal(code, 2);
    assert.match(err, /cannot validate .*scripts: it holds neither a config repository/);
    assert.equal((await run('validate', join(directory, 'missing'))).code, 2);
  });

  it('does not call a repository good that lost its pools', async (t) => {
    const root = temporaryDirectory(t);
    await mkdir(join(root, 'base'));
    await writeFile(join(root, 'base/all.yaml'), 'maxPods: 5\n');
    const { code, err } = await run('validate', root);
    assert.equal(code, 2);
    assert.match(err, /it has no pools\/<name>\/pool\.yaml, and a commit without pools does not come into force/);
  });
});

describe('a file that is too big for a repository', () => {
  it('gets no verdict, because it is not read', async (t) => {
    const root = temporaryDirectory(t);
    await cp('config-repo-template', root, { recursive: true });
    const pool = join(root, 'pools/gpu/pool.yaml');
    await writeFile(pool, (await readFile(pool, 'utf8')).replace('layers:\n', 'layers:\n    - ../../base/huge.yaml\n'));
    await writeFile(join(root, 'base/huge.yaml'), `maxPods: 5 # ${'x'.repeat(300_000)}\n`);
    const { files } = await validatePath(root, { cluster: undefined, versions: ['1.34'] });
    const { verdicts, findings } = files.find(({ path }) => path === 'base/huge.yaml') ?? {};
    assert.deepEqual([verdicts, findings?.map(({ code }) => code)], [{}, ['file-too-big']]);
  });
});

describe('layers that are small enough each, and too big together', () => {
  it('are an error of the pool, because every node would refuse them', async (t) => {
    const root = temporaryDirectory(t);
    await cp('config-repo-template', root, { recursive: true });
    const pool = join(root, 'pools/gpu/pool.yaml');
    const text = await readFile(pool, 'utf8');
    const big = (name: string): string =>
      `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nstaticPodURLHeader: {${name}: ["${'x'.repeat(200 * 1024)}"]}\n`;
    await writeFile(join(root, 'base/one.yaml'), big('one'));
    await writeFile(join(root, 'base/two.yaml'), big('two'));
    const layers = text.replace('layers:\n', 'layers:\n    - ../../base/one.yaml\n    - ../../base/two.yaml\n');
    await writeFile(pool, layers);
    const cluster = join(root, 'clusters/demo.yaml');
    await writeFile(
      cluster,
      `${(await readFile(cluster, 'utf8')).trimEnd()}\n  fields: {allow: [staticPodURLHeader]}\n`,
    );
    const { code, out } = await run('validate', root);
    assert.equal(code, 1);
    assert.match(out, /^pools\/gpu\/pool\.yaml: error payload-too-large: .* pool gpu has \d+ bytes, .* 262144/m);
  });
});
