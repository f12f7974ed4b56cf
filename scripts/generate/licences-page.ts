import { readFileSync } from 'node:fs';

export interface LockedPackage {
  /** `openpgp`. */
  readonly name: string;
  readonly version: string;
  /** As the package says it: an SPDX identifier or expression. */
  readonly licence: string;
  /** Used to build and test only, and in no program that is shipped. */
  readonly dev: boolean;
  readonly integrity: string | undefined;
  readonly optional: boolean;
}

interface Lockfile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version: string;
        readonly license?: string;
        readonly dev?: boolean;
        readonly optional?: boolean;
        readonly integrity?: string;
      }
    >
  >;
}

/**
 * Licences that what we ship may have. LGPL-3.0+ is that of OpenPGP.js, which lies in the image as a file of its own that may
 * be replaced; another library under it has to be kept apart in the same way (scripts/build.ts).
 */
export const ALLOWED_LICENCES: readonly string[] = [
  '(MIT AND BSD-3-Clause)',
  '(MIT AND Zlib)',
  'Apache-2.0',
  'BSD-3-Clause',
  'ISC',
  'LGPL-3.0+',
  'MIT',
  // tslib's is 0BSD elsewhere; argparse has Python's.
  'PSF-2.0',
  'Unlicense',
];
/** What nobody gets from us may have these as well. CC-BY-4.0 is that of a table of browsers, which is data. */
export const ALLOWED_FOR_TOOLS: readonly string[] = [
  ...ALLOWED_LICENCES,
  '0BSD',
  'BlueOak-1.0.0',
  'CC-BY-4.0',
  'MPL-2.0',
];

/** Every package that the lockfile pins, by name. */
export function lockedPackages(): readonly LockedPackage[] {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lockfile;
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version, license = 'none', dev = false, optional = false, integrity }]) => ({
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      licence: license,
      dev,
      optional,
      integrity,
    }))
    .toSorted((one, other) => `${one.name}@${one.version}`.localeCompare(`${other.name}@${other.version}`, 'en'));
}

export function generateLicencesPage(): readonly (readonly [path: string, text: string])[] {
  const all = lockedPackages();
  const table = (packages: readonly LockedPackage[]): string =>
    [
      '| package | version | licence |',
      '| --- | --- | --- |',
      ...packages.map(({ name, version, licence }) => `| \`${name}\` | ${version} | ${licence} |`),
    ].join('\n');
  const shipped = all.filter(({ dev }) => !dev);
  const tools = all.filter(({ dev, optional }) => dev && !optional);
  return [
    [
      'docs/licences.md',
      `<!-- Made from package-lock.json by scripts/generate.ts. -->

# Licences

This software is under the Apache License 2.0. What it is built from, by \`package-lock.json\`, which pins every package to one version and one hash:

- **Shipped**: the packages that programs may be made of. What really went into the bundles lies in the image with its licences, in \`/app/licences.txt\`, and a bill of materials (CycloneDX) in \`/app/sbom.cdx.json\`.
- **Tools**: what builds and tests. Nobody gets them from us.

A licence that is in none of the lists of \`scripts/generate/licences-page.ts\` fails the build.

OpenPGP.js is under the LGPL. It lies in the image as a file of its own, \`/app/node_modules/openpgp\`, and may be replaced there by another version of it.

## Shipped

${table(shipped)}

## Tools

${table(tools)}
`,
    ],
  ];
}
