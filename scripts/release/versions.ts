import { readFileSync } from 'node:fs';

/** Where a version is written down, and how it is found there. */
const PLACES: readonly (readonly [file: string, what: string, found: RegExp])[] = [
  ['package.json', 'version', /^ {2}"version": "([^"]+)"/m],
  ['package-lock.json', 'version', /^ {2}"version": "([^"]+)"/m],
  ['package-lock.json', 'the root package', /^ {4}"": \{\n {6}"name": "[^"]+",\n {6}"version": "([^"]+)"/m],
  ['shared/runtime/version.ts', 'VERSION', /^export const VERSION = '([^']+)'/m],
  ['deploy/helm/kubelet-gitops/Chart.yaml', 'version', /^version: "?([^"\n]+)"?$/m],
  ['deploy/helm/kubelet-gitops/Chart.yaml', 'appVersion', /^appVersion: "?([^"\n]+)"?$/m],
  ['deploy/kustomization.yaml', 'newTag', /^ {4}newTag: "?([^"\n]+)"?$/m],
  ['Dockerfile', 'the label of the image', /image\.version="([^"]+)"/],
  [
    'config-repo-template/.github/workflows/kubelet-config.yaml',
    'the action, with its package',
    /kubelet-gitops@v(\S+)\n[^]*?\/v\1\/kubelet-gitops-\1\.tgz/,
  ],
  [
    'config-repo-template/.gitlab-ci.yml',
    'the component, with its package',
    /\/review@v(\S+)\n[^]*?\/\1\/kubelet-gitops-\1\.tgz/,
  ],
  ['CHANGELOG.md', 'the newest heading', /^## \[?([^\]\s]+)/m],
];

/**
 * What speaks against a release by this tag: everything that states another version than it does.
 *
 * @param tag as git has it: `v1.2.3`
 * @param read the text of a file of the checkout
 * @returns a sentence each; none where all agree
 */
export function versionFaults(tag: string, read = (file: string) => readFileSync(file, 'utf8')): readonly string[] {
  const version = /^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/.exec(tag)?.[1];
  if (version === undefined) return [`the tag ${tag} is not a version: write it as v1.2.3`];
  return PLACES.flatMap(([file, what, found]) => {
    const stated = found.exec(read(file))?.[1];
    if (stated === version) return [];
    return [`${file}: ${what} is ${stated ?? 'not there'}, and the tag says ${version}`];
  });
}

if (import.meta.main) {
  const faults = versionFaults(process.argv[2] ?? '');
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
