import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { VERSION } from '#shared/runtime/version.ts';
import { BANNER, BESIDE } from './build.ts';
import { licenceTexts } from './licence-texts.ts';

const FILES = ['bin.js', 'complete.js', 'node-20.js', 'README.md'];

/** The command line, and what it loads by name: the demo, and what that starts programs with. */
const ENTRY_POINTS = {
  main: 'cli/main.ts',
  demo: 'sandbox/demo/main.ts',
  'git-starter': 'sandbox/git-server/subprocess/starter.ts',
};

/** Folders that the command line reads from (`cli/program-files.ts`), that its messages name, or that pipelines run, and which files. */
const FOLDERS: Readonly<Record<string, RegExp>> = {
  schemas: /\.json$/,
  'config-repo-template': /./,
  'deploy/crds': /\.yaml$/,
  docs: /\.md$/,
  // What action.yml and templates/review.yml run.
  ci: /./,
};

/**
 * The command line as an npm package that needs no checkout, and the manifest by which krew installs the same file as a plugin of
 * kubectl: `npm run package -- --uri https://…/kubelet-gitops-0.1.0.tgz`.
 *
 * @param outdir     is emptied first
 * @param repository `owner/name` on GitHub, of a package that is published: the registry compares it with what its provenance says
 * @returns the path of the tarball
 */
export async function packageCli(outdir: string, uri: string, repository?: string): Promise<string> {
  const content = join(outdir, 'package');
  await rm(outdir, { recursive: true, force: true });
  await mkdir(content, { recursive: true });
  const { metafile } = await build({
    entryPoints: ENTRY_POINTS,
    outdir: content,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    metafile: true,
    banner: { js: BANNER },
    logLevel: 'warning',
    // LGPL, and nothing in the package checks signatures: it is asked for where they are.
    external: ['openpgp'],
  });
  for (const file of FILES) await copyFile(join(import.meta.dirname, 'package', file), join(content, file));
  await copyFile('LICENSE', join(content, 'LICENSE'));
  for (const file of BESIDE.reconciler) await copyFile(file, join(content, basename(file)));
  for (const [folder, taken] of Object.entries(FOLDERS)) {
    const filter = async (path: string): Promise<boolean> => taken.test(path) || (await stat(path)).isDirectory();
    await cp(folder, join(content, folder), { recursive: true, filter });
  }
  await writeFile(join(content, 'licences.txt'), await licenceTexts(Object.keys(metafile.inputs)));
  const origin = { type: 'git', url: `git+https://github.com/${repository}.git` };
  const manifest = { ...MANIFEST, ...(repository === undefined ? {} : { repository: origin }) };
  await writeFile(join(content, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // The same bytes for any umask.
  for (const name of await readdir(content, { recursive: true })) {
    const { mode } = await stat(join(content, name));
    await chmod(join(content, name), name === 'bin.js' || (mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
  execFileSync('npm', ['pack', '--silent', '--pack-destination', '..'], { cwd: content });
  const tarball = join(outdir, `${MANIFEST.name}-${VERSION}.tgz`);
  const sha256 = createHash('sha256')
    .update(await readFile(tarball))
    .digest('hex');
  await writeFile(join(outdir, 'kubelet-gitops.krew.yaml'), krewManifest(uri, sha256));
  return tarball;
}

const MANIFEST = {
  name: 'kubelet-gitops',
  version: VERSION,
  description: 'Command line of kubelet-gitops: kubelet configuration from git',
  license: 'Apache-2.0',
  type: 'module',
  // kubectl takes a plugin's underscores for dashes.
  bin: {
    'kubelet-gitops': 'bin.js',
    'kubectl-kubelet_gitops': 'bin.js',
    // kubectl runs it to complete the plugin's command line.
    'kubectl_complete-kubelet_gitops': 'complete.js',
  },
  engines: { node: '>=20' },
} as const;

const krewManifest = (uri: string, sha256: string): string => `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: kubelet-gitops
spec:
  version: v${VERSION}
  shortDescription: Review and watch kubelet configuration from git
  description: |
    Shows which nodes run which kubelet configuration and why, plans a change
    before it is merged, and suspends, resumes and releases rollouts.
  caveats: Needs Node 20 or newer on your machine.
  platforms:
    - selector:
        matchExpressions:
          - {key: os, operator: In, values: [linux, darwin]}
      uri: ${uri}
      sha256: ${sha256}
      files:
        - {from: package/*, to: .}
      bin: bin.js
`;

if (import.meta.main) {
  const { values } = parseArgs({
    options: { outdir: { type: 'string', default: 'dist-cli' }, uri: { type: 'string' } },
  });
  const tarball = await packageCli(values.outdir, values.uri ?? `https://example.com/kubelet-gitops-${VERSION}.tgz`);
  console.log(tarball);
}
