import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runIn } from '../support/run.ts';

const CONFIG = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

const validate = (parts: readonly string[], ...more: readonly string[]) => runIn({}, ['validate', '-', ...more], parts);

describe('kubelet-gitops validate -', () => {
  it('judges what comes through a pipe, in however many parts', async () => {
    assert.equal((await validate([CONFIG, 'maxPods: 110\n'])).code, 0);
    const { code, out } = await validate([CONFIG, 'maxPo', 'dz: 110\n'], '--kubelet-version', '1.34');
    assert.equal(code, 1);
    assert.match(out, /^-:3:1: error unknown-field: .*did you mean maxPods/m);
  });

  it('judges a layer with computed values as well', async () => {
    const head = 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\n';
    assert.equal((await validate([head, 'profile: gke\n'])).code, 0);
    const { code, out } = await validate([head, "computed: {maxPods: 'memry'}\n"]);
    assert.equal(code, 1);
    assert.match(out, /^-:3:12: error bad-expression: maxPods: Unknown variable: memry, at character 1/m);
  });

  it('says so where nothing comes, and reads no more than a file may have', async () => {
    assert.match((await validate([])).err, /standard input.*empty/);
    const line = `# ${'x'.repeat(65_533)}\n`;
    const { code, out } = await validate([CONFIG, ...Array.from({ length: 64 }, () => line)]);
    assert.equal(code, 1);
    assert.match(out, /^-:.*error/m);
  });
});
