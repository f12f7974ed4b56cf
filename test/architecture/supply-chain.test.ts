import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bundle } from '../../scripts/build.ts';
import { ALLOWED_FOR_TOOLS, ALLOWED_LICENCES, lockedPackages } from '../../scripts/generate/licences-page.ts';
import { licenceTexts } from '../../scripts/licence-texts.ts';
import { billOfMaterials } from '../../scripts/sbom.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}
const packages = lockedPackages();
const shipped = packages.filter(({ dev }) => !dev);

describe('every dependency', () => {
  it('is pinned to a version and a hash', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
    const asked = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
    for (const [name, version] of Object.entries(asked)) assert.match(version, /^\d+\.\d+\.\d+$/, name);
    for (const { name, version, integrity, optional } of packages) {
      assert.match(version, /^\d+\.\d+\.\d/, name);
      // Tools for other platforms, which nobody here could fetch, have none; nothing that is shipped is among them.
      if (!optional) assert.match(integrity ?? '', /^sha512-/, name);
    }
    for (const { name, integrity } of shipped) assert.match(integrity ?? '', /^sha512-/, name);
  });

  it('has a licence that we may ship, or use', () => {
    assert.ok(shipped.length > 50);
    const strange = packages.filter(
      ({ licence, dev }) => !(dev ? ALLOWED_FOR_TOOLS : ALLOWED_LICENCES).includes(licence),
    );
    assert.deepEqual(strange, []);
  });

  it('under the LGPL is kept apart, and there is but one', () => {
    assert.deepEqual(
      shipped.filter(({ licence }) => /GPL/.test(licence)).map(({ name }) => name),
      ['openpgp'],
    );
    assert.match(readFileSync('scripts/build.ts', 'utf8'), /openpgp: \[.*'LICENSE'/);
  });
});

describe('what has no hash', () => {
  const unproven = packages.filter(({ integrity }) => integrity === undefined);

  it('is a tool for another platform, and in no program that is shipped', async (t) => {
    assert.ok(unproven.every(({ dev, optional }) => dev && optional));
    const directory = temporaryDirectory(t);
    const metafiles = [await bundle('agent', directory), await bundle('reconciler', directory)];
    const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
    assert.ok(inputs.some((input) => input.includes('node_modules/pino/')));
    const shippedUnproven = unproven.filter(({ name }) =>
      inputs.some((input) => input.includes(`node_modules/${name}/`)),
    );
    assert.deepEqual(shippedUnproven, []);
    // The image has the bundles, and no node_modules.
    const [, image = ''] = /^FROM (?!.* AS build)[^\n]*\n([\s\S]*)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    assert.doesNotMatch(image, /node_modules/);
  });
});

describe('what goes along with the programs', () => {
  it('are the licences of everything that is in them', async (t) => {
    const directory = temporaryDirectory(t);
    const metafiles = [await bundle('agent', directory), await bundle('reconciler', directory)];
    const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
    const text = await licenceTexts(inputs);
    for (const name of ['isomorphic-git', 'pino', 'yaml', '@kubernetes/client-node']) {
      assert.match(text, new RegExp(`^==== ${name} \\d`, 'm'));
    }
    assert.doesNotMatch(text, /^==== (?:esbuild|typescript|fast-check) /m);
    const silent = [...text.matchAll(/^==== (\S+) .*\n\nIts package has no text/gm)].map(([, name]) => name);
    assert.ok(silent.length <= 5, `no text of the licence: ${silent.join(', ')}`);
  });

  it('is a bill of materials that names all that is shipped, and no tool', () => {
    const bill = billOfMaterials();
    assert.equal(bill.bomFormat, 'CycloneDX');
    assert.equal(bill.metadata.component.name, 'kubelet-gitops', 'whatever the directory is called');
    const purls = bill.components.map(({ purl }) => decodeURIComponent(purl)).toSorted();
    const expected = shipped
      .filter(({ optional }) => !optional)
      .map(({ name, version }) => `pkg:npm/${name}@${version}`);
    // What is only there for types is no tool by the lockfile, and nothing that npm counts.
    const missing = [...new Set(expected)].filter(
      (purl) => !purls.includes(purl) && !/\/(?:@types|undici-types)/.test(purl),
    );
    assert.deepEqual(missing, []);
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
    for (const tool of Object.keys(devDependencies).filter((name) => !name.startsWith('@types/'))) {
      assert.ok(!purls.some((purl) => purl.startsWith(`pkg:npm/${tool}@`)), tool);
    }
    const refs = new Set(bill.components.map((component) => component['bom-ref']));
    const named = bill.dependencies.flatMap(({ dependsOn }) => dependsOn);
    assert.deepEqual(
      named.filter((ref) => !refs.has(ref)),
      [],
    );
    assert.match(readFileSync('Dockerfile', 'utf8'), /node scripts\/sbom\.ts > dist\/sbom\.cdx\.json/);
  });
});
