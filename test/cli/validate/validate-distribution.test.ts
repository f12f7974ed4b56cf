import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { layer, pool } from '../support/repository.ts';
import { runIn, run } from '../support/run.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const FILES = {
  'clusters/prod.yaml':
    'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nmetadata: {name: prod}\nspec: {kubeletVersions: ["1.31", "1.34"]}\n',
  'base/common.yaml': layer('maxPods: 60', 'syncFrequency: 10s'),
  'pools/a/pool.yaml': pool('a', 'a', 'layers: [base/common.yaml, kubelet.yaml]'),
  'pools/a/kubelet.yaml': layer('fileCheckFrequency: 5s', 'logging: {verbosity: 4}'),
  'pools/b/pool.yaml': pool('b', 'b', 'apply: replace'),
  'pools/b/kubelet.yaml': layer('syncFrequency: 30s'),
};

describe('kubelet-gitops validate --distribution', () => {
  const directory = temporaryDirectory();
  before(async () => {
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(join(directory, path, '..'), { recursive: true });
      await writeFile(join(directory, path), text);
    }
  });

  const validate = async (...argv: readonly string[]) => {
    const { code, out } = await run('validate', directory, ...argv);
    return { code, lines: out.split('\n').filter((line) => /config-not-read|flag-shadows/.test(line)) };
  };

  it('names the field in its file, and the versions that no config gets to', async () => {
    const { code, lines } = await validate('--distribution', 'rke2');
    const old =
      'error config-not-read: RKE2 has no kubelet config file, and before 1.32 no drop-in directory that an overlay can go to ' +
      '(upgrade these nodes to 1.32) [kubelet 1.31]';
    assert.deepEqual(lines, [
      'base/common.yaml:4:1: error flag-shadows: --sync-frequency=30s wins over syncFrequency: "10s", and RKE2 always passes it ' +
        '(take the field out of the config; kubelet-arg in /etc/rancher/rke2/config.yaml can set it) [kubelet 1.34]',
      `pools/a/pool.yaml:4:1: ${old}`,
      `pools/b/pool.yaml:6:3: ${old}`,
      'pools/b/pool.yaml:6:3: error config-not-read: RKE2 has no kubelet config file, whose place apply: replace would take ' +
        '(use apply: overlay) [kubelet 1.34]',
    ]);
    assert.equal(code, 1);
  });

  it('only warns where it depends on the node what a flag says', async () => {
    const { code, lines } = await validate('--distribution', 'k0s', '--fail-on', 'error');
    assert.deepEqual(lines, [
      'pools/a/kubelet.yaml:4:11: warning flag-shadows: --v, if it says otherwise, wins over logging.verbosity: 4, and k0s always ' +
        "passes it (take the field out of the config; k0s worker's --kubelet-extra-args can set it)",
    ]);
    assert.equal(code, 0);
  });

  it('says nothing without one, nor of one that passes no such flag', async () => {
    assert.deepEqual((await validate()).lines, []);
    assert.deepEqual((await validate('--distribution', 'eks')).lines, []);
  });

  it('judges single files, piped ones and computed ones, too: the field is as good as not written', async () => {
    const common = join(directory, 'base/common.yaml');
    const { out } = await run('validate', common, '--distribution', 'rke2', '--kubelet-version', '1.34', '-o', 'json');
    const [file] = (JSON.parse(out) as { readonly files: readonly { readonly verdicts: unknown }[] }).files;
    assert.deepEqual(file?.verdicts, { '1.34': 'reject' });
    const piped = await runIn({}, ['validate', '-', '--distribution', 'rke2'], [FILES['base/common.yaml']]);
    assert.match(piped.out, /^-:4:1: error flag-shadows: /m);
    const computed = FILES['base/common.yaml'].replace('KubeletConfiguration', 'ComputedKubeletConfiguration');
    assert.match(
      (await runIn({}, ['validate', '-', '--distribution', 'rke2'], [computed])).out,
      /^-:4:1: error flag-shadows: /m,
    );
    const old = await runIn({}, ['validate', '-', '--distribution', 'k3s', '--kubelet-version', '1.30'], ['{}']);
    assert.doesNotMatch(old.out, /flag-shadows/);
  });

  it('takes the names that there are', async () => {
    assert.match(
      (await run('validate', directory, '--distribution', 'minikube')).err,
      /choose one of kubeadm, k3s, rke2/,
    );
  });
});
