import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, it } from 'node:test';
import { parse } from 'yaml';
import { VERSION } from '#shared/runtime/version.ts';
import { makeArtifacts } from '../../../scripts/release/artifacts.ts';
import type { BillOfMaterials } from '../../../scripts/sbom.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { goProgram } from '../../support/go-program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const UNPROVED = 'nothing proves that a release can be made';
const { path: helm = 'helm', skip } = goProgram('helm', 'helm', UNPROVED, { anyVersion: true });
const REPOSITORY = 'acme/kubelet-gitops';
const PACKAGE = `kubelet-gitops-${VERSION}.tgz`;
const CHART = `kubelet-gitops-chart-${VERSION}.tgz`;
const BILL = `kubelet-gitops-${VERSION}.sbom.cdx.json`;

describeOrSkip('the files of a release', { skip }, () => {
  const directory = temporaryDirectory();
  const [first, second] = ['first', 'second'];
  before(async () => {
    await makeArtifacts({ outdir: join(directory, first), repository: REPOSITORY, helm });
    // Somebody else's machine: other rights by default, another time.
    const umask = process.umask(0o077);
    try {
      await makeArtifacts({ outdir: join(directory, second), repository: REPOSITORY, helm });
    } finally {
      process.umask(umask);
    }
  });
  const read = (name: string): Promise<string> => readFile(join(directory, first, name), 'utf8');
  const inArchive = (archive: string, path: string): string =>
    execFileSync('tar', ['--extract', '--gzip', '--to-stdout', '--file', join(directory, first, archive), path], {
      encoding: 'utf8',
    });

  it('are the command line, its manifest for krew, the chart, the bill of materials, and their checksums', async () => {
    const names = (await readdir(join(directory, first))).toSorted();
    assert.deepEqual(names, ['SHA256SUMS', BILL, PACKAGE, CHART, 'kubelet-gitops.krew.yaml'].toSorted());
    const check = ['--check', '--strict', 'SHA256SUMS'];
    const said = execFileSync('sha256sum', check, { cwd: join(directory, first), encoding: 'utf8' });
    assert.equal(said.match(/: OK$/gm)?.length, 4, said);
  });

  it('are the same bytes whoever makes them', async () => {
    for (const name of await readdir(join(directory, first))) {
      const [one, other] = [
        await readFile(join(directory, first, name)),
        await readFile(join(directory, second, name)),
      ];
      assert.ok(one.equals(other), `${name} differs`);
    }
  });

  it('have a manifest for krew that leads to the package, by its checksum', async () => {
    const { spec } = parse(await read('kubelet-gitops.krew.yaml')) as {
      spec: { version: string; platforms: readonly { uri: string; sha256: string }[] };
    };
    assert.equal(spec.version, `v${VERSION}`);
    const [platform] = spec.platforms;
    assert.equal(platform?.uri, `https://github.com/${REPOSITORY}/releases/download/v${VERSION}/${PACKAGE}`);
    assert.match(await read('SHA256SUMS'), new RegExp(`^${platform?.sha256}  ${PACKAGE}$`, 'm'));
  });

  it('have a package that says where it is from, as the registry asks of one with provenance', () => {
    const { version, repository } = JSON.parse(inArchive(PACKAGE, 'package/package.json')) as {
      readonly version: string;
      readonly repository: { readonly url: string };
    };
    assert.equal(version, VERSION);
    assert.equal(repository.url, `git+https://github.com/${REPOSITORY}.git`);
  });

  it('have a chart that Helm reads, and renders as it does the one in the checkout', async () => {
    const archive = join(directory, first, CHART);
    const shown = parse(execFileSync(helm, ['show', 'chart', archive], { encoding: 'utf8' })) as Record<
      string,
      unknown
    >;
    assert.deepEqual([shown['name'], shown['version'], shown['appVersion']], ['kubelet-gitops', VERSION, VERSION]);
    const values = join(directory, 'values.yaml');
    await writeFile(values, 'cluster: demo\ngit: {url: https://git.example.org/config.git}\n');
    const render = (chart: string): string =>
      execFileSync(helm, ['template', 'x', chart, '--values', values], { encoding: 'utf8' });
    assert.equal(render(archive), render('deploy/helm/kubelet-gitops'));
  });

  it('have a bill of materials that no clock and no chance is in', async () => {
    const bill = JSON.parse(await read(BILL)) as BillOfMaterials & { readonly serialNumber?: string };
    assert.equal(bill.bomFormat, 'CycloneDX');
    assert.equal(bill.metadata.component.version, VERSION);
    assert.equal(bill.serialNumber, undefined);
    assert.ok(!('timestamp' in bill.metadata));
  });
});
