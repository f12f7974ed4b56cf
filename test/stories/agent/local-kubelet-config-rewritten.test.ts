import assert from 'node:assert/strict';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { until } from '../../support/until.ts';
import { PATIENCE_MS, type Scenario, startScenario, WORKER } from '../support.ts';

const MACHINES = Array.from({ length: 6 }, (_, index) => ({
  name: `worker-${index + 1}`,
  labels: WORKER,
  readsDropIns: false,
}));

type Files = ReadonlyMap<string, { readonly path: string; readonly ours: string }>;

async function filesOf({ world }: Scenario): Promise<Files> {
  const files = new Map<string, { path: string; ours: string }>();
  for (const [name, { kubelet }] of world.nodes) {
    files.set(name, { path: kubelet.configFile, ours: await readFile(kubelet.configFile, 'utf8') });
  }
  return files;
}

/** The node's own config, as config management writes it. */
const OWN = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
rotateCertificates: true
`;

/** How many nodes were in a change at the same time, by every version of every KubeletNode, until the signal aborts. */
async function mostAtOnce({ world: { kube } }: Scenario, signal: AbortSignal): Promise<number> {
  const changing = new Set<string>();
  let most = 0;
  const { resourceVersion: version } = await kube.list<KubeletNode>({ resource: KUBELET_NODES });
  try {
    for await (const event of kube.watch<KubeletNode>(
      { resource: KUBELET_NODES },
      { version, lastsMs: 300_000 },
      signal,
    )) {
      if (event.type === 'BOOKMARK') continue;
      const { metadata, spec, status } = event.object;
      const isGranted = spec?.turn !== undefined && spec.turn.seen === status?.awaitsTurn?.seen;
      if (isGranted || status?.phase === 'Trial' || status?.phase === 'FallingBack') changing.add(metadata.name);
      else changing.delete(metadata.name);
      most = Math.max(most, changing.size);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return most;
}

describe('a fleet whose own kubelet config files are rewritten all at once', () => {
  let scenario: Scenario;
  before(async () => {
    scenario = await startScenario(MACHINES);
  });
  after(() => scenario.world.stop());

  it('restarts nothing where only a comment changed, and has its files back', async () => {
    const { world } = scenario;
    const [files, restarts] = [await filesOf(scenario), scenario.restarts()];
    for (const [name, { path }] of files) {
      const own = await readFile(path.replace(/kubelet\/config\.yaml$/, 'state/local/kubelet'), 'utf8');
      await writeFile(path, own);
      await appendFile(path, `# written for ${name}\n`);
    }
    for (const { path, ours } of files.values()) {
      await until(`${path} to be back`, async () => (await readFile(path, 'utf8')) === ours);
    }
    await world.until('at rest', ({ nodes }) => nodes.every(({ status }) => status?.phase === 'Idle'), PATIENCE_MS);
    assert.deepEqual(scenario.restarts(), restarts);
  });

  it('runs the new files in the end, one kubelet after the other', async () => {
    const { world } = scenario;
    const [files, restarts] = [await filesOf(scenario), scenario.restarts()];
    const watched = new AbortController();
    const most = mostAtOnce(scenario, watched.signal);
    for (const { path } of files.values()) await writeFile(path, `${OWN}registryBurst: 21\n`);
    const runs = (name: string): unknown => world.nodes.get(name)?.kubelet.running()?.['registryBurst'];
    await world.until(
      'every kubelet to run over its new file',
      ({ nodes }) => nodes.every(({ metadata, status }) => runs(metadata.name) === 21 && status?.phase === 'Idle'),
      PATIENCE_MS,
    );
    watched.abort();
    assert.equal(await most, 1);
    for (const [name, starts] of Object.entries(scenario.restarts()))
      assert.equal(starts, (restarts[name] ?? 0) + 1, name);
    for (const [name, { ours }] of files) {
      const maxPods = world.nodes.get(name)?.kubelet.running()?.['maxPods'];
      assert.equal(JSON.parse(ours.replace(/^#.*\n/gm, ''))['maxPods'], maxPods, name);
    }
  });
});
