import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gateSpec } from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import { NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { UPSTREAM_ANNOUNCEMENTS } from '#cli/foresight/upstream-announcements.ts';
import type { UpgradeForesight } from '#cli/foresight/foresee-upgrades.ts';
import { createRepository, layer, pool, type TestRepository } from '../support/repository.ts';
import { run } from '../support/run.ts';
import { column } from '../../support/columns.ts';

describe('kubelet-gitops foresight', () => {
  let repository: TestRepository;
  before(async () => {
    repository = await createRepository();
    await repository.write({
      'pools/w/pool.yaml': pool('w', 'w', 'apply: replace'),
      'pools/w/kubelet.yaml': layer('featureGates: {GracefulNodeShutdown: true, CPUManager: true}', 'maxPods: 100'),
    });
  });
  after(() => repository.remove());

  const steps = async (...argv: readonly string[]): Promise<readonly UpgradeForesight[]> =>
    (
      JSON.parse((await run('foresight', repository.directory, '-o', 'json', ...argv)).out) as {
        steps: UpgradeForesight[];
      }
    ).steps;

  it('names the version from which on something is refused', async () => {
    const found = await steps('--kubelet-version', '1.30');
    const gate = found.find(({ findings }) =>
      findings.some(({ message, field }) => `${field} ${message}`.includes('CPUManager')),
    );
    assert.notEqual(gate, undefined);
    // The same payload is fine at the version before.
    assert.equal((await run('validate', repository.directory, '--kubelet-version', gate?.from ?? '')).code, 0);
    assert.equal((await run('validate', repository.directory, '--kubelet-version', gate?.to ?? '')).code, 1);
  });

  it('gives no all-clear where there is nothing to judge', async () => {
    const { code, err } = await run('foresight', join(repository.directory, 'pools'), '--kubelet-version', '1.30');
    assert.equal(code, 2);
    assert.match(err, /has no pools\/: name the root of a config repository/);
  });

  it('says where a cluster is named that has no file while others have one', async () => {
    const other = await createRepository();
    await other.write({
      'clusters/demo.yaml':
        'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {kubeletVersions: ["1.36"]}\n',
      'pools/w/pool.yaml': pool('w', 'w', 'apply: replace'),
      'pools/w/kubelet.yaml': layer('maxPods: 100'),
    });
    const { err } = await run('foresight', other.directory, '--cluster', 'dmeo', '--kubelet-version', '1.36');
    assert.equal(
      err,
      'there is no clusters/dmeo.yaml, so nothing new is started in dmeo; there is clusters/demo.yaml\n',
    );
    assert.equal((await run('foresight', other.directory)).err, '');
    await other.remove();
  });

  it('names defaults that change under a pool which does not set the field', async () => {
    const change = async () =>
      (await steps('--kubelet-version', '1.34'))
        .flatMap(({ defaults }) => defaults)
        .filter(({ field }) => field === 'failCgroupV1');
    assert.deepEqual(await change(), [{ field: 'failCgroupV1', before: 'false', after: 'true' }]);
    await repository.write({ 'pools/w/kubelet.yaml': layer('failCgroupV1: false') });
    assert.deepEqual(await change(), []);
  });

  it('names values that stay and mean something else', async () => {
    await repository.write({
      'pools/w/kubelet.yaml': layer('eventRecordQPS: 0', 'memoryThrottlingFactor: 0.9'),
    });
    const [step] = await steps('--kubelet-version', '1.36');
    assert.deepEqual(column(step?.meanings, 'field'), ['eventRecordQPS', 'memoryThrottlingFactor']);
    const { code, out } = await run('foresight', repository.directory, '--kubelet-version', '1.36');
    assert.equal(code, 1);
    assert.match(
      out,
      /^ {2}eventRecordQPS means something else: .*50 Events a second; from then on, 0 means no limit/m,
    );
    // Neither is there where the value is another, or the gate was on before.
    const gates = 'featureGates: {MemoryQoS: true}';
    await repository.write({
      'pools/w/kubelet.yaml': layer('eventRecordQPS: 5', 'memoryThrottlingFactor: 0.9', gates),
    });
    assert.deepEqual(
      (await steps('--kubelet-version', '1.36')).flatMap(({ meanings }) => meanings),
      [],
    );
    await repository.write({ 'pools/w/kubelet.yaml': layer('failCgroupV1: false') });
  });

  const starts = async (...argv: readonly string[]): Promise<Readonly<Record<string, string>>> => {
    const found = await steps(...argv);
    // The first of each pool is kept.
    return Object.fromEntries(found.toReversed().map((step) => [step.pool, step.from]));
  };

  it('starts from the oldest version in use, also where the next one is listed for the upgrade', async () => {
    await repository.write({
      'pools/w/kubelet.yaml': layer('maxPods: 100'),
      'clusters/demo.yaml':
        'apiVersion: kubelet-gitops.dev/v1alpha1\nkind: ClusterConfig\nspec: {kubeletVersions: ["1.34", "1.37"]}\n',
    });
    assert.deepEqual(await starts(), { w: '1.34' });
    assert.deepEqual(await starts('--kubelet-version', '1.36', '--kubelet-version', '1.34'), { w: '1.34' });
  });

  it('starts from what the nodes of each pool run, where nodes are given', async () => {
    const nodeOf = (name: string, label: string, kubeletVersion: string) => ({
      metadata: { name, labels: { pool: label } },
      status: { nodeInfo: { kubeletVersion } },
    });
    const inventory = join(repository.directory, 'nodes.json');
    const items = [
      nodeOf('a', 'w', 'v1.35.2'),
      nodeOf('b', 'w', 'v1.34.9'),
      nodeOf('c', 'v', 'v1.36.0'),
      nodeOf('d', '', ''),
    ];
    await writeFile(inventory, JSON.stringify({ items }));
    await repository.write({
      'pools/v/pool.yaml': pool('v', 'v', 'apply: replace'),
      'pools/v/kubelet.yaml': layer('eventRecordQPS: 0'),
      'pools/none/pool.yaml': pool('none', 'none', 'apply: replace'),
      'pools/none/kubelet.yaml': layer('maxPods: 100'),
    });
    assert.deepEqual(await starts('--inventory', inventory), { w: '1.34', v: '1.36', none: '1.34' });
    assert.deepEqual(await starts('--inventory', inventory, '--kubelet-version', '1.36'), { v: '1.36' });
    await repository.write({
      'clusters/demo.yaml': null,
      'pools/w/kubelet.yaml': layer('failCgroupV1: false'),
      ...Object.fromEntries(
        ['v', 'none']
          .flatMap((name) => [`pools/${name}/pool.yaml`, `pools/${name}/kubelet.yaml`])
          .map((path) => [path, null]),
      ),
    });
  });

  it('has nothing to say beyond the newest that is known', async () => {
    const { code, out } = await run('foresight', repository.directory, '--kubelet-version', '1.37');
    assert.deepEqual(
      [code, out],
      [0, 'Nothing from 1.37 up to 1.37, the newest version that is known here, nor in what is announced of 1.38.\n'],
    );
  });

  it('names what is announced of the version after the newest', async () => {
    const gates = 'featureGates: {NodeSwap: true, ExtendWebSocketsToKubelet: false, SELinuxMount: false}';
    await repository.write({ 'pools/w/kubelet.yaml': layer(gates) });
    const found = await steps('--kubelet-version', '1.37');
    assert.deepEqual(
      found.map(({ from, to, announced }) => [from, to, announced.map(({ field }) => field)]),
      [['1.37', '1.38', ['featureGates.NodeSwap', 'featureGates.ExtendWebSocketsToKubelet']]],
    );
    const { code, out } = await run('foresight', repository.directory, '--kubelet-version', '1.37');
    assert.equal(code, 1);
    assert.match(
      out,
      /^Pool w, kubelet 1\.37 → 1\.38\n {2}featureGates\.NodeSwap, as announced: .* \(source of 1\.38\.0-beta\.0/,
    );
    await repository.write({ 'pools/w/kubelet.yaml': layer('failCgroupV1: false') });
  });

  it('takes nothing for announced that the tables know, and no gate that there is not', () => {
    const known = UPSTREAM_ANNOUNCEMENTS.filter(({ since }) => since <= NEWEST_MINOR).map(({ field }) => field);
    assert.deepEqual(known, [], 'put them into the tables, and take them out of upstream-announcements.ts');
    const gates = UPSTREAM_ANNOUNCEMENTS.map(({ field }) => field.split('.')).flatMap(([first, gate = '']) =>
      first === 'featureGates' ? [gate] : [],
    );
    assert.deepEqual(
      gates.filter((gate) => gateSpec(gate, NEWEST_MINOR) === undefined),
      [],
    );
  });

  it('says which pools it can say nothing of, and why', async () => {
    await repository.write({
      'pools/broken/pool.yaml': pool('broken', 'b'),
      'pools/broken/kubelet.yaml': layer('maxPodz: 5'),
    });
    const { code, out } = await run('foresight', repository.directory, '--kubelet-version', '1.36');
    assert.equal(code, 1);
    assert.match(
      out,
      /^Pool broken is left out: it has errors now\n {2}pools\/broken\/kubelet\.yaml:3:1: error unknown-field/,
    );
    const json = JSON.parse(
      (await run('foresight', repository.directory, '--kubelet-version', '1.36', '-o', 'json')).out,
    );
    assert.deepEqual(
      json.leftOut.map((each: { pool: string; findings: { code: string }[] }) => [each.pool, each.findings[0]?.code]),
      [['broken', 'unknown-field']],
    );
    await repository.write({ 'pools/broken/pool.yaml': null, 'pools/broken/kubelet.yaml': null });
  });

  it('asks which versions are in use where nobody says', async () => {
    assert.match((await run('foresight', repository.directory)).err, /which versions are in use\?/);
  });
});
