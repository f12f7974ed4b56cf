import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { DEFAULT_VERSIONS } from '#cli/validate/validate-file.ts';
import { run, runIn } from '../support/run.ts';
import { column, columns } from '../../support/columns.ts';
import { sarifFaults } from '../../support/sarif-schema.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

describe('kubelet-gitops validate on single files', () => {
  const directory = temporaryDirectory();
  before(async () => {
    await writeFile(join(directory, 'good.yaml'), `${HEAD}maxPods: 110\n`);
    await writeFile(join(directory, 'bad.yaml'), `${HEAD}maxPodz: 5 # 100%, "really" <yes>\nport: 0o17\n`);
    await writeFile(join(directory, 'newer.yaml'), `${HEAD}failCgroupV1: true\n`);
    await writeFile(join(directory, 'odd.yaml'), `${HEAD}port: 010250\n`);
    await writeFile(join(directory, 'other.yaml'), 'kind: ConfigMap\n');
  });

  const path = (name: string): string => join(directory, name);

  interface Json {
    readonly files: readonly {
      readonly path: string;
      readonly verdicts: Readonly<Record<string, string>>;
      readonly findings: readonly { readonly code: string; readonly path?: string; readonly versions?: string[] }[];
    }[];
  }
  const json = async (...argv: readonly string[]): Promise<Json> =>
    JSON.parse((await run('validate', ...argv, '-o', 'json')).out) as Json;

  it('finds in receivers of notifications what the reconciler would not start with', async () => {
    const receivers = (more: string): string =>
      `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: NotificationReceivers\nspec:\n  receivers:\n    - name: chat\n      type: slack\n${more}`;
    await writeFile(path('receivers.yaml'), receivers('      urlFile: slack-url\n'));
    const good = await run('validate', path('receivers.yaml'));
    assert.deepEqual([good.code, good.out], [0, '1 file: nothing found\n']);
    await writeFile(path('receivers.yaml'), receivers('      kinds: [halt]\n'));
    const bad = await json(path('receivers.yaml'));
    assert.deepEqual(column(bad.files[0]?.findings, 'code'), ['missing-field', 'unknown-value']);
    assert.deepEqual(bad.files[0]?.verdicts, {});
    const piped = await runIn({}, ['validate', '-'], [receivers('')]);
    assert.match(piped.out, /-:5:7: error missing-field: the receiver has no urlFile/);
  });

  it('finds what the repository finds in such a layer, and what it is told of credentials', async (t) => {
    const root = temporaryDirectory(t);
    await cp('config-repo-template', root, { recursive: true });
    const layer = join(root, 'pools/gpu/kubelet.yaml');
    const doubtful: readonly (readonly [text: string, code: string])[] = [
      ['systemReserved: {memory: 512m}', 'fractional-bytes'],
      ['kubeReserved: {memory: "512"}', 'doubtful-value'],
      ['evictionHard: {memory.available: 80%}', 'doubtful-value'],
      ['featureGates: {AllAlpha: true}', 'doubtful-value'],
      ['maxPods: 0', 'doubtful-value'],
      ['maxPodz: 5', 'unknown-field'],
    ];
    for (const [text, code] of doubtful) {
      await writeFile(layer, `${HEAD}${text}\n`);
      const whole = (await json(root)).files.find((file) => file.path === 'pools/gpu/kubelet.yaml');
      const alone = (await json(layer)).files[0];
      for (const file of [whole, alone])
        assert.ok(
          file?.findings.some((each) => each.code === code),
          text,
        );
      const piped = await runIn({}, ['validate', '-', '-o', 'json'], [`${HEAD}${text}\n`]);
      assert.match(piped.out, new RegExp(code));
    }
    await writeFile(layer, `${HEAD}staticPodURLHeader: {Authorization: ["Bearer abcdefghijklmnop"]}\n`);
    assert.deepEqual(column((await json(layer)).files[0]?.findings, 'code'), ['credential-in-config']);
  });

  it('ends at a hundred findings, with an error among them and the verdict of all', async (t) => {
    const root = temporaryDirectory(t);
    const many = Array.from({ length: 8_000 }, (_, index) => `maxPodz${index}: yes\n`).join('');
    const computed = many.replace(/^/, 'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ComputedKubeletConfiguration\n');
    for (const text of [HEAD + many, computed]) {
      await writeFile(join(root, 'many.yaml'), text);
      const [file] = (await json(join(root, 'many.yaml'))).files;
      assert.ok((file?.findings.length ?? 0) <= 102, `${file?.findings.length}`);
      assert.equal(file?.findings.at(-1)?.code, 'more-findings');
      assert.deepEqual(file?.verdicts, { [DEFAULT_VERSIONS[0] ?? '']: 'reject' });
    }
  });

  it('gives a verdict for each version that is asked for', async () => {
    const { files } = await json(path('newer.yaml'), '--kubelet-version', '1.30', '--kubelet-version', '1.34');
    assert.deepEqual(files[0]?.verdicts, { '1.30': 'reject', '1.34': 'accept' });
    assert.deepEqual(columns(files[0]?.findings, 'code', 'path', 'versions'), [
      ['unknown-field', 'failCgroupV1', ['1.30']],
    ]);
  });

  it('warns of what the kubelet reads otherwise than people do, which is no verdict against it', async () => {
    const { files } = await json(path('odd.yaml'), '--kubelet-version', '1.34');
    assert.deepEqual(files[0]?.verdicts, { '1.34': 'warn' });
    assert.equal(files[0]?.findings[0]?.code, 'yaml-ambiguous');
  });

  it('finds the files that say what they are in a directory without a repository', async () => {
    const { files } = await json(directory);
    assert.deepEqual(column(files, 'path'), ['bad.yaml', 'good.yaml', 'newer.yaml', 'odd.yaml'].map(path));
  });

  it('ends with 0 where nothing was found, and with 1 otherwise, in every format', async () => {
    for (const format of ['text', 'json', 'github', 'gitlab', 'sarif', 'junit']) {
      assert.equal((await run('validate', path('good.yaml'), '-o', format)).code, 0, format);
      assert.equal((await run('validate', path('bad.yaml'), '-o', format)).code, 1, format);
    }
  });

  it('gives GitHub an annotation for each line', async () => {
    const { out } = await run('validate', path('bad.yaml'), '-o', 'github');
    const [first = ''] = out.split('\n');
    assert.match(first, /^::error file=.*bad\.yaml,line=3,col=1,title=kubelet-gitops%3A unknown-field::.*maxPodz/);
  });

  it('gives GitLab a report in which a finding that only moves stays the same', async () => {
    const report = async () =>
      JSON.parse((await run('validate', path('bad.yaml'), '-o', 'gitlab')).out) as {
        readonly fingerprint: string;
        readonly location: { readonly lines: { readonly begin: number } };
      }[];
    const before = await report();
    await writeFile(path('bad.yaml'), `# moved\n${HEAD}maxPodz: 5 # 100%, "really" <yes>\nport: 0o17\n`);
    const after_ = await report();
    assert.deepEqual(
      column(after_, 'fingerprint'),
      before.map(({ fingerprint }) => fingerprint),
    );
    assert.equal(after_[0]?.location.lines.begin, (before[0]?.location.lines.begin ?? 0) + 1);
  });

  it('gives SARIF with rules and places', async () => {
    const log: unknown = JSON.parse((await run('validate', path('bad.yaml'), '-o', 'sarif')).out);
    assert.deepEqual(sarifFaults(log), []);
    const { runs } = log as {
      readonly runs: readonly {
        readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
        readonly results: readonly { readonly ruleId: string }[];
      }[];
    };
    const rules = runs[0]?.tool.driver.rules.map(({ id }) => id) ?? [];
    assert.ok(rules.includes('unknown-field'));
    assert.ok(runs[0]?.results.every(({ ruleId }) => rules.includes(ruleId)));
  });

  it('gives JUnit a failed case for a file with errors, with everything escaped', async () => {
    const { out } = await run('validate', directory, '-o', 'junit');
    assert.match(out, /<testsuite name="kubelet-gitops validate" tests="4" failures="2">/);
    assert.match(out, /<testcase classname="kubelet-gitops" name=".*good\.yaml"\/>/);
    assert.doesNotMatch(out.replaceAll(/<\/?(?:\?xml|testsuite|testcase|failure|system-out)\b[^<>]*>/g, ''), /[<>]/);
  });
});
