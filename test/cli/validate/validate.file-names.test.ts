import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { run } from '../support/run.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const BAD =
  'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPodz: 5\nmaxPodz: 6\nmaxPodz: 7\n';

describe('kubelet-gitops validate on files with odd names', () => {
  const directory = temporaryDirectory();
  before(async () => {
    for (const name of ['sp ace.yaml', 'ünï.yaml', 'co:lon,#1?%20.yaml', 'new\nline.yaml', 'red\u001B[31m.yaml'])
      await writeFile(join(directory, name), BAD);
    await writeFile(
      Buffer.concat([Buffer.from(join(directory, 'lost-')), Buffer.from([0xff]), Buffer.from('.yaml')]),
      BAD,
    );
  });

  const files = 6;
  const findings = 5 * 3 + 1;

  it('prints one line for each finding, and nothing that a terminal obeys', async () => {
    const { out, code } = await run('validate', directory);
    assert.equal(code, 1);
    assert.equal(out.trimEnd().split('\n').length, findings + 1);
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(out, /[^\n\u0020-\uFFFF]/);
    assert.match(out, /new\\u000aline\.yaml:4:1: /);
    assert.match(out, /lost-\uFFFD\.yaml: error hostile-name: /);
  });

  it('gives SARIF whose references lead back to the files', async () => {
    const { runs } = JSON.parse((await run('validate', directory, '-o', 'sarif')).out) as {
      readonly runs: readonly { readonly results: readonly Result[] }[];
    };
    const uris =
      runs[0]?.results.map(({ locations }) => locations[0]?.physicalLocation.artifactLocation.uri ?? '') ?? [];
    assert.ok(uris.every((uri) => !/[:#? ]/.test(uri)));
    assert.ok(uris.map(decodeURIComponent).includes(join(directory, 'co:lon,#1?%20.yaml')));
  });

  interface Result {
    readonly locations: readonly {
      readonly physicalLocation: { readonly artifactLocation: { readonly uri: string } };
    }[];
  }

  it('gives GitHub one line for each finding', async () => {
    const lines = (await run('validate', directory, '-o', 'github')).out.trimEnd().split('\n');
    assert.equal(lines.length, findings);
    assert.ok(lines.every((line) => /^::error file=[^:,]+,(?:line=\d+,col=1,)?title=kubelet-gitops%3A /.test(line)));
  });

  it('gives GitLab no two findings with the same fingerprint', async () => {
    const report = JSON.parse((await run('validate', directory, '-o', 'gitlab')).out) as { fingerprint: string }[];
    assert.equal(new Set(report.map(({ fingerprint }) => fingerprint)).size, findings);
  });

  it('gives JSON and JUnit every file', async () => {
    const json = JSON.parse((await run('validate', directory, '-o', 'json')).out) as { files: unknown[] };
    assert.equal(json.files.length, files);
    assert.match((await run('validate', directory, '-o', 'junit')).out, /tests="6" failures="6"/);
  });
});
