import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { VERSION } from '#shared/runtime/version.ts';

it('the version in the code, the package, the manifests and the image’s label is the same', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  assert.equal(VERSION, manifest.version);
  assert.match(readFileSync('deploy/kustomization.yaml', 'utf8'), new RegExp(`newTag: ${VERSION}\\n`));
  assert.match(readFileSync('Dockerfile', 'utf8'), new RegExp(`image\\.version="${VERSION}"`));
});
