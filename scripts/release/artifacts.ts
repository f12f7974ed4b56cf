import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { VERSION } from '#shared/runtime/version.ts';
import { packageCli } from '../package-cli.ts';
import { billOfMaterials } from '../sbom.ts';
import { packageChart } from './package-chart.ts';

export interface ReleaseOptions {
  /** Emptied first. */
  readonly outdir: string;
  /** `owner/name` on GitHub: where the files will be downloaded from. */
  readonly repository: string;
  /** The program that packs the chart. */
  readonly helm: string;
}

/**
 * Every file of a release but the image: the command line, its manifest for krew, the chart, the bill of materials, and the checksums
 * of these. The same commit gives the same bytes on any machine.
 */
export async function makeArtifacts({ outdir, repository, helm }: ReleaseOptions): Promise<void> {
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  const place = `https://github.com/${repository}/releases/download/v${VERSION}`;
  const work = await mkdtemp(join(tmpdir(), 'kubelet-gitops-release-'));
  try {
    const tarball = await packageCli(join(work, 'cli'), `${place}/kubelet-gitops-${VERSION}.tgz`, repository);
    await copyFile(tarball, join(outdir, basename(tarball)));
    await copyFile(join(work, 'cli', 'kubelet-gitops.krew.yaml'), join(outdir, 'kubelet-gitops.krew.yaml'));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  await packageChart(helm, join(outdir, `kubelet-gitops-chart-${VERSION}.tgz`));
  const bill = `${JSON.stringify(billOfMaterials(), null, 2)}\n`;
  await writeFile(join(outdir, `kubelet-gitops-${VERSION}.sbom.cdx.json`), bill);
  await writeFile(join(outdir, 'SHA256SUMS'), await checksums(outdir));
}

/** As `sha256sum --check` reads them. */
async function checksums(directory: string): Promise<string> {
  const lines = (await readdir(directory)).toSorted().map(async (name) => {
    const hash = createHash('sha256').update(await readFile(join(directory, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  return (await Promise.all(lines)).join('');
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      outdir: { type: 'string', default: 'release' },
      repository: { type: 'string', default: process.env['GITHUB_REPOSITORY'] ?? '' },
      helm: { type: 'string', default: 'helm' },
    },
  });
  if (!/^[\w.-]+\/[\w.-]+$/.test(values.repository)) throw new Error('name the repository: --repository owner/name');
  await makeArtifacts(values);
  process.stdout.write(await readFile(join(values.outdir, 'SHA256SUMS'), 'utf8'));
}
