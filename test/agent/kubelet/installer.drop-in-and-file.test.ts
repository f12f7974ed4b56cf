import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import type { Installer } from '#agent/ports/installer.ts';
import { type Loaded, loadConfig } from '#sandbox/kubelet/load-config.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { minorName } from '#shared/contract/kubelet-config/minor.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { runsOf } from '../../support/sample.ts';
import { installerOn } from '../../support/agent/installer-on.ts';

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 2 });
const percentage = fc.integer({ min: 1, max: 50 }).map((number) => `${number}%`);
const seconds = fc.integer({ min: 1, max: 600 }).map((number) => `${number}s`);

/** Fields of every kind, among them those whose defaults hang together. */
function fields(nothing: fc.Arbitrary<null> | null): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const or = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
    optional(nothing === null ? value : fc.oneof({ weight: 4, arbitrary: value }, nothing));
  return fc
    .record({
      maxPods: or(fc.integer({ min: 1, max: 500 })),
      clusterDNS: or(fc.array(fc.constantFrom('10.0.0.10', '10.0.0.11'), { maxLength: 2 })),
      evictionHard: or(
        fc.dictionary(fc.constantFrom('memory.available', 'nodefs.available', 'pid.available'), percentage),
      ),
      mergeDefaultEvictionSettings: or(fc.boolean()),
      kubeReserved: or(fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constantFrom('1', '2'))),
      serializeImagePulls: or(fc.boolean()),
      maxParallelImagePulls: or(fc.integer({ min: 1, max: 4 })),
      nodeStatusUpdateFrequency: or(seconds),
      nodeStatusReportFrequency: or(seconds),
      featureGates: or(fc.dictionary(fc.constantFrom('NodeSwap', 'MemoryQoS', 'KubeletTracing'), fc.boolean())),
      authentication: optional(
        fc.record({
          webhook: fc.record({ cacheTTL: or(seconds) }),
          anonymous: fc.record({ enabled: or(fc.boolean()) }),
        }),
      ),
      logging: optional(fc.record({ verbosity: or(fc.nat(9)) })),
    })
    .map((config) => JSON.parse(JSON.stringify(config)) as Readonly<Record<string, unknown>>);
}

/**
 * What is not written the same way although it means the same: complaints in another order, no thresholds at all, and a switch that is spent when what
 * it brings was written out.
 */
function alike(loaded: Loaded): unknown {
  if ('fatal' in loaded) return loaded.fatal.split(/[[\], ]+/).sort();
  const { evictionHard = {}, mergeDefaultEvictionSettings: _, ...config } = loaded.config;
  return { evictionHard, ...config };
}

describe('installed on a real disk', () => {
  let directory: string;
  let configFile: string;
  let dropIns: string;
  const installerFor = (minor: number, dropInDirectory: string | undefined): Installer =>
    installerOn(createNodeDisk(), {
      stateDirectory: join(directory, 'state'),
      configFile,
      dropInDirectory,
      kubeletMinor: async () => minorName(minor),
    });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-install-'));
    configFile = join(directory, 'config.yaml');
    dropIns = join(directory, 'config.d');
    await mkdir(dropIns);
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('an overlay means the same as a drop-in and merged into the file', async () => {
    const cases = fc.tuple(fc.integer({ min: 32, max: 37 }), fields(null), fields(fc.constant(null)));
    await fc.assert(
      fc.asyncProperty(cases, async ([minor, local, payload]) => {
        await writeFile(configFile, canonicalize(local));
        const config = { payload: canonicalize(payload), apply: 'overlay' } as const;
        const ran = [];
        for (const where of [dropIns, undefined]) {
          const installer = installerFor(minor, where);
          await installer.takeAsLocal();
          await installer.install(await installer.plan(config));
          ran.push(alike(await loadConfig(configFile, dropIns, minor)));
          await installer.install(await installer.plan(null));
        }
        assert.deepEqual(ran[1], ran[0]);
        assert.deepEqual(await loadConfig(configFile, dropIns, minor), await loadConfig(configFile, undefined, minor));
      }),
      { numRuns: runsOf(60, 4) },
    );
  });

  it('nothing takes the place of a link; a drop-in goes over what it leads to', async () => {
    const target = join(directory, 'elsewhere.yaml');
    await writeFile(target, canonicalize({ maxPods: 42, podPidsLimit: 7 }));
    await symlink(target, configFile);
    const config = { payload: canonicalize({ maxPods: 50 }), apply: 'overlay' } as const;
    await assert.rejects(installerFor(34, undefined).plan(config), (error) => codeOf(error) === 'INSTALL_NOT_A_FILE');
    const installer = installerFor(34, dropIns);
    await assert.rejects(
      installer.plan({ ...config, apply: 'replace' }),
      (error) => codeOf(error) === 'INSTALL_NOT_A_FILE',
    );
    const plan = await installer.plan(config);
    await installer.install(plan);
    assert.ok(await installer.isInstalled(plan));
    assert.equal(plan.effective['podPidsLimit'], 7);
    await installer.install(await installer.plan(null));
    assert.ok(await installer.isInstalled(await installer.plan(null)));
  });
});
