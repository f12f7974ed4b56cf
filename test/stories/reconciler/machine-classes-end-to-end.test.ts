import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseDocument } from 'yaml';
import { plain } from '#cli/paint.ts';
import { renderStatus, type StatusView } from '#cli/status/render.ts';
import type { SandboxNodeOptions } from '#sandbox/sandbox-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { EVENTS, NODES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { firstOf, type Scenario, settled, startScenario, WORKER } from '../support.ts';

const MI = 2 ** 20;
const PODS = 'example.com/pods';
const [SMALL, LARGE, NEW] = ['cpu=2,memory=7680Mi', 'cpu=16,memory=63488Mi', 'cpu=32,memory=126976Mi'].map(
  (machine) => `${machine},${PODS}=60`,
);

interface SizedNode extends KubeObject {
  readonly status?: { readonly capacity?: Readonly<Record<string, string>> };
}

/** A worker of this size. Two machines of one type never have quite the same memory. */
const worker = (name: string, cpus: number, mebibytes: number, labels = { [PODS]: '60' }): SandboxNodeOptions => ({
  name,
  labels: { ...WORKER, ...labels },
  host: { cpus, memory: mebibytes * MI },
});

const SIZES = `apiVersion: kubelet-gitops.dev/v1alpha1
kind: ComputedKubeletConfiguration
profile: gke
computed:
  maxPods: 'int(labels["${PODS}"])'
`;

describe('a pool of machines of several sizes', () => {
  let scenario: Scenario;
  before(async () => {
    scenario = await startScenario([
      worker('small-1', 2, 7885),
      worker('small-2', 2, 7870),
      worker('large-1', 16, 63_590),
    ]);
    // All nodes are in one of three pools: a commit may change no more of them than most.
    const cluster = parseDocument(scenario.files['clusters/demo.yaml'] ?? '');
    cluster.setIn(['spec', 'maxChange'], '100%');
    const files = { 'clusters/demo.yaml': cluster.toString() };
    await scenario.settledOn(await scenario.world.git.commit({ files, message: 'Let all change' }));
  });
  after(() => scenario.world.stop());

  /** What a kubelet reserves now, and how many pods it takes. */
  const reservedBy = (name: string): unknown => {
    const { kubeReserved, maxPods } = scenario.world.nodes.get(name)?.kubelet.running() ?? {};
    const { cpu, memory } = (kubeReserved ?? {}) as { readonly cpu?: string; readonly memory?: string };
    return [cpu, memory, maxPods];
  };
  const poolIn = ({ pools }: StatusView) => pools.find(({ metadata }) => metadata.name === 'general');
  const classesIn = (view: StatusView): readonly string[] =>
    (poolIn(view)?.status?.classes ?? []).map(({ name, updated, nodes }) => `${name} ${updated ?? '-'}/${nodes}`);
  const classOf = (view: StatusView, name: string) => poolIn(view)?.status?.classes?.find((each) => each.name === name);
  /** Until every node of the pool runs and has proven what its class gets. */
  const arrived = (what: string, isIt: (view: StatusView) => boolean): Promise<StatusView> =>
    scenario.world.until(what, (view) => settled(view) && isIt(view));

  it('gives each class its config by one restart of each kubelet, one config source for a class', async () => {
    const before = scenario.restarts();
    const pool = parseDocument(scenario.files['pools/general/pool.yaml'] ?? '');
    pool.addIn(['spec', 'layers'], './sizes.yaml');
    const files = { 'pools/general/pool.yaml': pool.toString(), 'pools/general/sizes.yaml': SIZES };
    await scenario.world.git.commit({ files, message: 'Sizes' });
    const view = await arrived('all have their sizes', (seen) => classesIn(seen).includes(`${SMALL} 2/2`));
    assert.deepEqual(classesIn(view), [`${SMALL} 2/2`, `${LARGE} 1/1`]);
    assert.deepEqual(reservedBy('small-1'), ['70m', '1740Mi', 60]);
    assert.deepEqual(reservedBy('small-2'), ['70m', '1740Mi', 60]);
    assert.deepEqual(reservedBy('large-1'), ['110m', '5488Mi', 60]);
    const told = new Map(view.nodes.map(({ metadata, spec }) => [metadata.name, spec?.configSource?.name]));
    assert.equal(told.get('small-1'), classOf(view, SMALL ?? '')?.configName);
    assert.equal(told.get('small-1'), told.get('small-2'));
    assert.notEqual(told.get('small-1'), told.get('large-1'));
    const restarts = Object.entries(scenario.restarts()).map(([name, starts]) => starts - (before[name] ?? 0));
    assert.deepEqual(restarts, [1, 1, 1]);
  });

  it('leaves a machine alone that keeps some mebibytes more for itself, though its class begins above what is left', async () => {
    const before = scenario.restarts();
    const { kubelet } = scenario.world.nodes.get('small-2') ?? {};
    kubelet?.resize({ memory: 7640 * MI });
    await kubelet?.reboot();
    const smaller = String(7640 * 1024);
    await firstOf<SizedNode>(scenario.world, NODES, ({ metadata, status }) => {
      return metadata.name === 'small-2' && status?.capacity?.['memory'] === `${smaller}Ki`;
    });
    await arrived('small-2 is back', () => (kubelet?.running() ?? null) !== null);
    assert.deepEqual(reservedBy('small-2'), ['70m', '1740Mi', 60]);
    assert.equal(scenario.restarts()['small-2'], (before['small-2'] ?? 0) + 1, 'by the reboot alone');
  });

  it('gives a machine that grew the config of its new class, and restarts nobody else', async () => {
    const before = scenario.restarts();
    const { kubelet } = scenario.world.nodes.get('small-1') ?? {};
    kubelet?.resize({ cpus: 16, memory: 63_600 * MI });
    await kubelet?.reboot();
    const view = await arrived('small-1 is large', (seen) => classesIn(seen).includes(`${LARGE} 2/2`));
    assert.deepEqual(classesIn(view), [`${LARGE} 2/2`, `${SMALL} 1/1`]);
    assert.deepEqual(reservedBy('small-1'), ['110m', '5488Mi', 60]);
    const { 'small-1': grown, ...others } = scenario.restarts();
    assert.equal(grown, (before['small-1'] ?? 0) + 2, 'by the reboot, and by the new config');
    assert.deepEqual(others, { 'small-2': before['small-2'], 'large-1': before['large-1'] });
  });

  it('takes in a machine of a size that nobody saw before, by its formula', async () => {
    const before = scenario.restarts();
    await scenario.world.addNode(worker('new-1', 32, 127_600));
    const view = await arrived('new-1 is in', (seen) => classesIn(seen).includes(`${NEW} 1/1`));
    assert.deepEqual(reservedBy('new-1'), ['150m', '9297Mi', 60]);
    assert.equal(
      view.nodes.find(({ metadata }) => metadata.name === 'new-1')?.status?.active?.name,
      classOf(view, NEW ?? '')?.configName,
    );
    const { 'new-1': _joined, ...others } = scenario.restarts();
    assert.deepEqual(others, before);
  });

  it('is the same for a reconciler that starts', async () => {
    const before = scenario.restarts();
    await scenario.world.restartReconciler();
    await scenario.world.git.commit({ files: { 'NOTES.md': 'nothing' }, message: 'Nothing' });
    const view = await arrived('settled again', (seen) => seen.source.subject === 'Nothing');
    assert.equal(classesIn(view).length, 3);
    assert.deepEqual(scenario.restarts(), before);
  });

  it('holds a class that has no config, says so everywhere, and goes on with the others', async () => {
    const before = scenario.restarts();
    await scenario.world.addNode(worker('odd-1', 2, 7885, {} as never));
    const isHeld = (seen: StatusView): boolean => classesIn(seen).includes('cpu=2,memory=7680Mi -/1');
    const view = await scenario.world.until('odd-1 is held', isHeld);
    const text = renderStatus(view, plain, systemClock.now());
    assert.match(
      text,
      /^ {2}cpu=2,memory=7680Mi: 1 node keeps what it has: maxPods cannot be computed: the Node has no label example\.com\/pods$/m,
    );
    assert.match(text, new RegExp(`^ {2}${LARGE}: 2 of 2 nodes run general-`, 'm'));
    const event = await firstOf<KubeObject & { readonly reason?: string; readonly note?: string }>(
      scenario.world,
      EVENTS,
      ({ reason, note = '' }) => reason === 'ClassHeld' && note.includes('cpu=2'),
    );
    assert.match(event.note ?? '', /^Machines with cpu=2,memory=7680Mi: 1 node keeps what it has: /);
    await scenario.world.git.commit({
      files: { 'pools/general/sizes.yaml': `${SIZES}bounds: {kubeReserved: {memory: {max: 5Gi}}}\n` },
      message: 'Bound',
    });
    await scenario.world.until(
      'the others are bounded',
      (seen) => seen.source.subject === 'Bound' && poolIn(seen)?.status?.counts?.updated === 4,
    );
    assert.deepEqual(reservedBy('large-1'), ['110m', '5120Mi', 60]);
    assert.deepEqual(reservedBy('new-1'), ['150m', '5120Mi', 60]);
    const { 'small-2': small, 'odd-1': odd } = scenario.restarts();
    assert.equal(small, before['small-2'], 'its class gets what it had');
    assert.equal(odd, 1, 'nobody restarted it');
  });
});
