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
/** Tools that we do not ship may have these as well. CC-BY-4.0 is that of a table of browsers, which is data. */
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
  const shipped = all.filter(({ dev }) => !dev);
  const tools = all.filter(({ dev, optional }) => dev && !optional);
  return [
    [
      'docs/licences.md',
      `<!-- Made from package-lock.json by scripts/generate.ts. -->

# Licences

This software is under the Apache License 2.0. \`package-lock.json\` pins every package below to one version and one hash.

## Shipped

The programs may contain these packages. The image has the list of what really went into its bundles, with the licences, in \`/app/licences.txt\`, and a bill of materials (CycloneDX) in \`/app/sbom.cdx.json\`. OpenPGP.js is under the LGPL: another version of it may replace \`/app/node_modules/openpgp\`.

${byLicence(shipped)}

## Tools

These packages build and test the software, and are not shipped. By licence: ${counts(tools)}.
`,
    ],
  ];
}

/** Each licence with what is under it, by name. */
function groupsOf(packages: readonly LockedPackage[]): readonly (readonly [string, readonly LockedPackage[]])[] {
  const groups = Map.groupBy(packages, ({ licence }) => licence);
  return [...groups].toSorted(([one], [other]) => one.localeCompare(other, 'en'));
}

/** How many packages each licence has: the lockfile names them. */
const counts = (packages: readonly LockedPackage[]): string =>
  groupsOf(packages)
    .map(([licence, under]) => `${licence} ${under.length}`)
    .join(', ');

/** A line for each licence, with the packages under it. */
function byLicence(packages: readonly LockedPackage[]): string {
  return groupsOf(packages)
    .map(
      ([licence, under]) =>
        `- **${licence}**: ${under.map(({ name, version }) => `\`${name}@${version}\``).join(', ')}`,
    )
    .join('\n');
}
