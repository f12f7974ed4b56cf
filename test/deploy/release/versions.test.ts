import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { VERSION } from '#shared/runtime/version.ts';
import { versionFaults } from '../../../scripts/release/versions.ts';

/** The checkout as it is when it is tagged: what is in no release yet got its heading. */
function tagged(file: string): string {
  const text = readFileSync(file, 'utf8');
  return file === 'CHANGELOG.md' ? text.replace('## Unreleased', `## ${VERSION} - 2026-11-30`) : text;
}

describe('a release by its tag', () => {
  it('is one version, wherever that is written down', () => {
    assert.deepEqual(versionFaults(`v${VERSION}`, tagged), []);
  });

  it('is held up by each place that states another one', () => {
    const faults = versionFaults('v9.9.9', tagged);
    assert.equal(faults.length, 11);
    for (const fault of faults) assert.match(fault, new RegExp(` is ${VERSION}, and the tag says 9\\.9\\.9$`));
  });

  const TEMPLATE = ['.github/workflows/kubelet-config.yaml', '.gitlab-ci.yml'].map(
    (file) => `config-repo-template/${file}`,
  );
  const FILES = ['package.json', 'package-lock.json', 'shared/runtime/version.ts', 'Dockerfile', 'CHANGELOG.md'];
  for (const file of [...FILES, ...TEMPLATE]) {
    it(`is held up by ${file} alone, and by its having no version`, () => {
      const changed = (by: string) => (path: string) =>
        path === file ? tagged(path).replaceAll(VERSION, by) : tagged(path);
      assert.ok(versionFaults(`v${VERSION}`, changed('9.9.9')).every((fault) => fault.startsWith(`${file}: `)));
      assert.ok(versionFaults(`v${VERSION}`, changed('9.9.9')).length > 0);
      const empty = (path: string) => (path === file ? '' : tagged(path));
      assert.match(versionFaults(`v${VERSION}`, empty).join(), / is not there, /);
    });
  }

  it('has a heading of its own in the changelog', () => {
    const untold = (file: string) => (file === 'CHANGELOG.md' ? '# Changelog\n\n## Unreleased\n' : tagged(file));
    assert.deepEqual(versionFaults(`v${VERSION}`, untold), [
      `CHANGELOG.md: the newest heading is Unreleased, and the tag says ${VERSION}`,
    ]);
  });

  it('is named as git tags are', () => {
    for (const tag of ['', VERSION, 'v1', 'v1.2', 'release-1.2.3', 'v1.2.3 ']) {
      assert.match(versionFaults(tag, tagged).join(), /is not a version: write it as v1\.2\.3/, tag);
    }
  });

  it('runs the same Node on both architectures, as npm pins it', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
    };
    const [, image] = /^ARG NODE_VERSION=(.+)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    for (const architecture of ['x64', 'arm64']) {
      const { version, integrity = '' } = packages[`node_modules/node-linux-${architecture}`] ?? {};
      assert.equal(version, image, architecture);
      assert.match(integrity, /^sha512-/);
    }
  });
});
