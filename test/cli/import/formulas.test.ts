import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { run } from '../support/run.ts';
import { commitAll } from '../support/repository.ts';

interface Seen {
  readonly name: string;
  readonly cpu: number;
  /** As a Node says it. */
  readonly memory: string;
  readonly pods?: number;
  readonly running: Readonly<Record<string, unknown>>;
}

const kube = (cpu: string, memory: string, disk?: string) => ({
  kubeReserved: { cpu, memory, ...(disk === undefined ? {} : { 'ephemeral-storage': disk }) },
});
const system = (cpu: string, memory: string) => ({
  systemReserved: { cpu, memory, 'ephemeral-storage': '1Gi' },
});

/** What nodes of each provider run, worked out by hand from the formulas as they are published. */
const FLEETS: Readonly<Record<string, readonly Seen[]>> = {
  gke: [
    { name: 'a-1', cpu: 2, memory: '8Gi', running: kube('70m', '1843Mi') },
    { name: 'a-2', cpu: 8, memory: '16Gi', running: kube('90m', '2662Mi') },
    { name: 'a-3', cpu: 1, memory: '512Mi', running: kube('60m', '255Mi') },
  ],
  eks: [
    { name: 'a-1', cpu: 2, memory: '7934Mi', pods: 110, running: kube('70m', '1465Mi', '1Gi') },
    { name: 'a-2', cpu: 16, memory: '63590Mi', pods: 110, running: kube('110m', '1465Mi', '1Gi') },
    { name: 'a-3', cpu: 4, memory: '15803Mi', pods: 110, running: kube('80m', '1465Mi', '1Gi') },
  ],
  aks: [
    { name: 'a-1', cpu: 2, memory: '7934Mi', pods: 30, running: { maxPods: 30, ...kube('100m', '650Mi') } },
    { name: 'a-2', cpu: 16, memory: '63590Mi', pods: 30, running: { maxPods: 30, ...kube('260m', '650Mi') } },
    { name: 'a-3', cpu: 64, memory: '250Gi', pods: 30, running: { maxPods: 30, ...kube('0.74', '650Mi') } },
  ],
  openshift: [
    { name: 'a-1', cpu: 4, memory: '15667Mi', running: system('500m', '2560Mi') },
    { name: 'a-2', cpu: 8, memory: '31949Mi', running: system('500m', '3584Mi') },
    { name: 'a-3', cpu: 64, memory: '15667Mi', running: system('820m', '2.5Gi') },
  ],
};

/** As kubeadm and every provider set them on all machines. */
const EVERYWHERE = {
  evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
  serializeImagePulls: false,
};

const nodeOf = ({ name, cpu, memory, pods = 110 }: Seen) => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', pool: 'w' } },
  status: {
    nodeInfo: { kubeletVersion: 'v1.34.2' },
    capacity: { cpu: String(cpu), memory, pods: String(pods), 'ephemeral-storage': '100Gi' },
    allocatable: { cpu: String(cpu), memory, pods: String(pods), 'ephemeral-storage': '90Gi' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
});

interface Imported {
  readonly err: string;
  readonly pools: readonly string[];
  readonly layers: readonly string[];
  readonly profile: string;
  readonly plan: { readonly code: number; readonly out: string };
}

/** Imports a fleet, commits what it wrote, and plans it over the same nodes. */
async function importing(nodes: readonly Seen[], hasInventory = true): Promise<Imported> {
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-formulas-'));
  const inside = (path: string): string => join(directory, path);
  try {
    await mkdir(inside('configs'));
    await writeFile(inside('nodes.json'), JSON.stringify({ items: nodes.map(nodeOf) }));
    for (const { name, running } of nodes) {
      const config = { kubeletconfig: { ...EVERYWHERE, ...running } };
      await writeFile(inside(`configs/${name}.json`), JSON.stringify(config));
    }
    const inventory = hasInventory ? ['--inventory', inside('nodes.json')] : [];
    const words = ['import', inside('configs'), ...inventory, '--cluster', 'prod', '--into', inside('repo')];
    const { code, err } = await run(...words);
    assert.equal(code, 0, err);
    await commitAll(inside('repo'));
    const about = ['--repo', inside('repo'), '--inventory', inside('nodes.json'), '--running', inside('configs')];
    const plan = await run('plan', ...about);
    const valid = await run('validate', inside('repo'));
    assert.equal(valid.code, 0, valid.out);
    const layers = await readdir(inside('repo'), { recursive: true });
    const profiles = layers.filter((path) => path.endsWith('-profile.yaml'));
    const texts = await Promise.all(profiles.map((path) => readFile(inside(`repo/${path}`), 'utf8')));
    return { err, pools: await readdir(inside('repo/pools')), layers, profile: texts.join('\n'), plan };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const changesNothing = ({ plan: { code, out } }: Imported): void => {
  assert.match(out, /^Nothing changes\.$/m, out);
  assert.equal(code, 0, out);
};

describe('import of nodes that reserve by a known formula', () => {
  for (const [profile, nodes] of Object.entries(FLEETS)) {
    it(`makes one pool with profile ${profile}, which the planner says changes nothing`, async () => {
      const imported = await importing(nodes);
      changesNothing(imported);
      assert.deepEqual(imported.pools, ['all-nodes']);
      assert.match(imported.profile, new RegExp(`^profile: ${profile}$`, 'm'));
      assert.match(imported.profile, /computed-kubelet-configuration\.json\n/);
      assert.ok(imported.layers.includes('.schemas/computed-kubelet-configuration.json'));
      assert.match(
        imported.err,
        new RegExp(`^profile ${profile} gives 3 nodes what they reserve: a-1, a-2, a-3$`, 'm'),
      );
    });

    it(`leaves a node that is off by the least from ${profile} its own values`, async () => {
      const [first, ...others] = nodes;
      assert.ok(first !== undefined);
      const [field = '', values] = Object.entries(first.running).find(([key]) => key.endsWith('Reserved')) ?? [];
      const { cpu, memory } = values as { readonly cpu: string; readonly memory: string };
      for (const off of [
        { cpu: `${Number.parseInt(cpu, 10) + 1}m` },
        { memory: `${Number.parseInt(memory, 10) + 1}Mi` },
      ]) {
        const near = { ...first, running: { ...first.running, [field]: { ...(values as object), ...off } } };
        const imported = await importing([near, ...others]);
        changesNothing(imported);
        assert.equal(imported.pools.length, 2);
        assert.match(imported.err, new RegExp(`^profile ${profile} gives 2 nodes what they reserve: a-2, a-3$`, 'm'));
      }
    });
  }

  const constants = async (nodes: readonly Seen[], hasInventory = true): Promise<Imported> => {
    const imported = await importing(nodes, hasInventory);
    changesNothing(imported);
    assert.equal(imported.profile, '');
    assert.doesNotMatch(imported.err, /^profile /m);
    assert.ok(!imported.layers.some((path) => path.includes('computed')));
    return imported;
  };

  it('writes constants where all machines have one size: they may be a choice', async () => {
    const [first] = FLEETS['gke'] ?? [];
    assert.ok(first !== undefined);
    const { pools } = await constants(['a-1', 'a-2', 'a-3'].map((name) => ({ ...first, name })));
    assert.deepEqual(pools, ['all-nodes']);
  });

  it('writes constants where a value of the formula is missing, and where the formula was another one', async () => {
    await constants(
      (FLEETS['eks'] ?? []).map((node) => ({ ...node, running: { ...node.running, kubeReserved: undefined } })),
    );
    const off = (FLEETS['eks'] ?? []).map((node, index) => ({
      ...node,
      running: kube(`${70 + index}m`, '1465Mi', '1Gi'),
    }));
    await constants(off);
  });

  it('writes constants where sizes are near those that the values were computed for, and rounding gives others', async () => {
    // GKE takes its bands of 7.7 GiB; a class of such machines begins at 7.5 GiB.
    const real = [
      { name: 'a-1', cpu: 2, memory: '7885Mi', running: kube('70m', '1781Mi') },
      { name: 'a-2', cpu: 8, memory: '15800Mi', running: kube('90m', '2604Mi') },
    ];
    await constants(real);
  });

  it('writes constants where nobody says how large the machines are', async () => {
    await constants(FLEETS['aks'] ?? [], false);
  });

  it('writes constants where the Node takes other pods than the config says', async () => {
    // 20 MiB for each of 20 pods, while the pool would say 30.
    const cpus = ['100m', '260m', '740m'];
    await constants(
      (FLEETS['aks'] ?? []).map((node, index) => ({
        ...node,
        pods: 20,
        running: { maxPods: 30, ...kube(cpus[index] ?? '', '450Mi') },
      })),
    );
  });

  it('gives each formula its pool where there are two', async () => {
    const named = (fleet: string, prefix: string) =>
      (FLEETS[fleet] ?? []).map((node) => ({ ...node, name: node.name.replace('a', prefix) }));
    const imported = await importing([...named('openshift', 'o'), ...named('gke', 'g')]);
    changesNothing(imported);
    assert.equal(imported.pools.length, 2);
    assert.match(imported.profile, /^profile: gke$/m);
    assert.match(imported.profile, /^profile: openshift$/m);
  });
});
