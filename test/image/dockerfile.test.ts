import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import type { BillOfMaterials } from '../../scripts/sbom.ts';
import { nodeSkipReason } from '../node/support/tree.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { manifestFlags } from '../support/manifest-flags.ts';
import { without } from '../support/required-tools.ts';
import { type Builder, type BuiltImage, startBuilder } from './support/buildah.ts';

const skip =
  without('buildah', ['--version'], 'nothing proves that the Dockerfile builds') ||
  (await nodeSkipReason()) ||
  without('npm', ['--version'], 'nothing proves that the Dockerfile builds');

describeOrSkip('the image, built from the Dockerfile', { skip }, () => {
  let builder: Builder | undefined;
  let image: BuiltImage = { root: '', entrypoint: [], cmd: [], user: '' };
  before(async () => {
    builder = await startBuilder();
    image = await builder.build();
  });
  after(() => builder?.remove());

  const inside = (argv: readonly string[], user: string) =>
    spawnSync('/usr/sbin/chroot', [`--userspec=${user}`, image.root, ...argv], { env: {}, encoding: 'utf8' });

  it('starts the reconciler, as nobody in particular, with the flags of the manifest', () => {
    assert.equal(image.user, '65532:65532');
    assert.deepEqual(image.cmd, [...manifestFlags('reconciler'), '/app/reconciler.js']);
    const { status, stderr } = inside([...image.entrypoint, ...image.cmd], image.user);
    assert.equal(status, 2, stderr);
    assert.match(stderr, /^kubelet-gitops reconciler: .*CLUSTER is not set/m);
  });

  it('starts the agent with the arguments of the manifest', () => {
    const { status, stderr } = inside([...image.entrypoint, ...manifestFlags('agent'), '/app/agent.js'], '0:0');
    assert.equal(status, 2, stderr);
    assert.match(stderr, /^kubelet-gitops agent: .*NODE_NAME is not set/m);
  });

  it('has a bill of materials that names every library in it', () => {
    const bill = JSON.parse(read('app/sbom.cdx.json')) as BillOfMaterials;
    const named = new Set(bill.components.map(({ purl }) => decodeURIComponent(purl).replace('pkg:npm/', '')));
    const bundled = [...read('app/licences.txt').matchAll(/^==== (\S+) (\S+) \(/gm)].map(
      ([, name = '', version = '']) => `${name}@${version}`,
    );
    const apart = readdirSync(join(image.root, 'app/node_modules')).map((name) => {
      const { version } = JSON.parse(read(`app/node_modules/${name}/package.json`)) as { readonly version: string };
      return `${name}@${version}`;
    });
    assert.ok(bundled.length > 50, `${bundled.length} libraries`);
    assert.ok(apart.length > 0);
    assert.deepEqual(
      [...bundled, ...apart].filter((each) => !named.has(each)),
      [],
    );
    assert.equal(bill.metadata.component.name, 'kubelet-gitops');
  });

  const read = (path: string): string => readFileSync(join(image.root, path), 'utf8');
});
