import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { createInstaller } from '#agent/kubelet/installer.ts';
import { runsAlready } from '#agent/observe/runs-already.ts';
import { planNode } from '#cli/plan/plan-node.ts';
import { withDefaults, withEvictionDefaults } from '#sandbox/kubelet/defaults.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { NO_FILE } from '#shared/contract/kubelet-config/drop-ins.ts';
import { fieldOfFlag } from '#shared/contract/kubelet-config/fields/flags.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import { found } from '../../agent/preflight/support/on-host.ts';
import { createMemoryDisk } from '../../support/agent/memory-disk.ts';
import { poolSpec } from '../../support/fleet.ts';
import { fc } from '../../support/property.ts';
import { inventoryNode } from '../support/inventory-node.ts';

type Config = Readonly<Record<string, unknown>>;

/** A node before the first config of ours. */
interface Node {
  readonly version: string;
  /** Its kubelet's `--config`; null where it has none. */
  readonly file: Config | null;
  /** Those in its `--config-dir`; null where it has none. */
  readonly dropIns: readonly Config[] | null;
  /** Fields by the flags of its command line. */
  readonly flags: Readonly<Record<string, unknown>>;
}

/** What k3s and RKE2 write at each start (`defaultKubeletConfig`), in part. */
const K3S_DEFAULTS: Config = {
  authentication: { anonymous: { enabled: false }, webhook: { enabled: true, cacheTTL: '2m0s' } },
  authorization: { mode: 'Webhook' },
  cgroupDriver: 'cgroupfs',
  clusterDomain: 'cluster.local',
  evictionHard: { 'imagefs.available': '5%', 'nodefs.available': '5%' },
  failSwapOn: false,
  fileCheckFrequency: '20s',
  serializeImagePulls: false,
  syncFrequency: '1m0s',
};
const K3S: Node = {
  version: 'v1.34.2+k3s1',
  file: null,
  dropIns: [K3S_DEFAULTS],
  flags: { 'read-only-port': 0 },
};
const RKE2: Node = {
  ...K3S,
  version: 'v1.34.2+rke2r1',
  flags: {
    'read-only-port': 0,
    'sync-frequency': '30s',
    'file-check-frequency': '5s',
    'volume-plugin-dir': '/var/lib/kubelet/volumeplugins',
  },
};
const KUBEADM: Node = { version: 'v1.34.2', file: { clusterDomain: 'cluster.local' }, dropIns: null, flags: {} };
const EKS: Node = { ...KUBEADM, version: 'v1.34.1-eks-1', dropIns: [{ maxPods: 58 }] };

/** /configz of a kubelet that was started with these files and flags, by the sandbox's own merging. */
function configzOf({ file, dropIns, flags }: Node): Config {
  const base = file === null ? withDefaults(NO_FILE, 34) : withEvictionDefaults(withDefaults(file, 34), 34);
  const merged = withDefaults(
    (dropIns ?? []).reduce((config, next) => mergePatch(config, next) as Config, base),
    34,
  );
  return Object.entries(flags).reduce((config, [flag, value]) => {
    const field = fieldOfFlag(flag) ?? assert.fail(flag);
    const whole = flag === 'feature-gates' ? value : [value];
    const patch = field.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), null);
    const rest = flag === 'feature-gates' ? config : (mergePatch(config, patch) as Config);
    const set = field.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), [whole].flat()[0]);
    return mergePatch(rest, set) as Config;
  }, merged);
}

const textOf = (flag: string, value: unknown): string =>
  typeof value === 'object' && value !== null
    ? `--${flag}=${Object.entries(value)
        .map(([key, item]) => `${key}${flag === 'eviction-hard' ? '<' : '='}${String(item)}`)
        .join(',')}`
    : `--${flag}=${String(value)}`;

const argsOf = ({ flags }: Node): readonly string[] =>
  Object.entries(flags).map(([flag, value]) => textOf(flag, value));

/** Whether the node's agent restarts nothing for its first config, which is an overlay. */
async function agentKeepsRunning(node: Node, payload: Config): Promise<boolean> {
  const disk = createMemoryDisk();
  const [configFile, directory] = ['/etc/kubelet/config.yaml', '/etc/kubelet/conf.d'];
  await disk.makeDirectory(dirname(configFile), 0o755);
  await disk.makeDirectory('/state', 0o755);
  if (node.file !== null) disk.plant(configFile, canonicalize(config(node.file)));
  if (node.dropIns !== null) await disk.makeDirectory(directory, 0o755);
  for (const [index, dropIn] of (node.dropIns ?? []).entries())
    disk.plant(join(directory, `${index}0-own.conf`), canonicalize(config(dropIn)));
  const installer = createInstaller({
    nodeName: 'n',
    disk,
    stateDirectory: '/state',
    configFile,
    dropInDirectory: node.dropIns === null ? undefined : directory,
    kubeletMinor: () => Promise.resolve('1.34'),
  });
  const { effective: present } = await installer.plan(null);
  const { effective: wanted } = await installer.plan({ payload: canonicalize(config(payload)), apply: 'overlay' });
  return runsAlready({ wanted, present, running: configzOf(node) }, argsOf(node), node.version);
}

const config = (fields: Config): Config => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  ...fields,
});

/** What `plan --running` says of the same. */
function planSays(node: Node, payload: Config): 'no restart' | 'restart' | 'unclear' | 'refused' {
  const spec = poolSpec({ apply: 'overlay' });
  const made = { payload: '', sha256: '', configName: '', findings: [] };
  const pool = { status: 'valid', name: 'workers', spec, value: config(payload), ...made } as const;
  const seen = inventoryNode('n', { kubeletVersion: node.version, running: configzOf(node) });
  const plan = planNode(seen, undefined, pool);
  if (plan.warnings.some(({ refuses }) => refuses)) return 'refused';
  if (plan.unclear !== undefined) return 'unclear';
  return plan.runsAlready ? 'no restart' : 'restart';
}

describe('the first config of a kubelet that runs it already', () => {
  const rows: readonly (readonly [string, Node, Config, ReturnType<typeof planSays>])[] = [
    ['k3s: a field of its own file', K3S, { clusterDomain: 'cluster.local' }, 'no restart'],
    ['k3s: a default', K3S, { maxPods: 110 }, 'no restart'],
    [
      'k3s: all of its thresholds',
      K3S,
      { evictionHard: { ...(K3S_DEFAULTS['evictionHard'] as object) } },
      'no restart',
    ],
    ['k3s: one of its two thresholds', K3S, { evictionHard: { 'nodefs.available': '5%' } }, 'unclear'],
    ['k3s: a threshold that a file would bring', K3S, { evictionHard: { 'memory.available': '100Mi' } }, 'restart'],
    ['RKE2, whose flags are not what its file says', RKE2, { clusterDomain: 'cluster.local' }, 'no restart'],
    ['RKE2: what a flag says', RKE2, { syncFrequency: '30s' }, 'no restart'],
    ['kubeadm: a default threshold', KUBEADM, { evictionHard: { 'memory.available': '100Mi' } }, 'unclear'],
    ['EKS: a field of a drop-in', EKS, { maxPods: 58 }, 'no restart'],
    ['EKS: another', EKS, { maxPods: 59 }, 'restart'],
  ];
  for (const [name, node, payload, expected] of rows) {
    it(`${name}: ${expected}`, async () => {
      assert.equal(planSays(node, payload), expected);
      if (expected !== 'unclear') assert.equal(await agentKeepsRunning(node, payload), expected === 'no restart');
    });
  }

  const signals = ['memory.available', 'nodefs.available', 'imagefs.available'] as const;
  const thresholds = fc.dictionary(fc.constantFrom(...signals), fc.constantFrom('100Mi', '5%', '10%'), { maxKeys: 3 });
  const fields = fc.record<Record<string, unknown>>(
    {
      maxPods: fc.constantFrom(58, 110),
      clusterDomain: fc.constantFrom('cluster.local', 'k8s.example', ''),
      syncFrequency: fc.constantFrom('30s', '1m', '0s'),
      nodeStatusUpdateFrequency: fc.constantFrom('4s', '10s'),
      nodeStatusReportFrequency: fc.constantFrom('5m', '4s'),
      maxParallelImagePulls: fc.constantFrom(1, 3),
      serializeImagePulls: fc.boolean(),
      failSwapOn: fc.boolean(),
      readOnlyPort: fc.constantFrom(0, 10_255),
      clusterDNS: fc.constantFrom([], ['10.43.0.10']),
      evictionHard: thresholds,
      kubeReserved: fc.constantFrom({}, { cpu: '100m' }, { cpu: '100m', memory: '1Gi' }),
      featureGates: fc.constantFrom({}, { MemoryQoS: true }, { NodeSwap: true, MemoryQoS: true }),
      logging: fc.record({ verbosity: fc.constantFrom(0, 2, 4) }),
      authorization: fc.constantFrom({ mode: 'Webhook' }, { mode: 'AlwaysAllow' }),
    },
    { requiredKeys: [] },
  );
  const flags = fc.record<Record<string, unknown>>(
    {
      'max-pods': fc.constantFrom(50, 110),
      'read-only-port': fc.constantFrom(0, 10_255),
      'sync-frequency': fc.constant('30s'),
      v: fc.constantFrom(2, 4),
      'eviction-hard': fc.constantFrom({ 'memory.available': '1Gi' }, { 'nodefs.available': '5%' }),
      'kube-reserved': fc.constant({ cpu: '200m' }),
      'feature-gates': fc.constantFrom({ MemoryQoS: true }, { KubeletTracing: false }),
    },
    { requiredKeys: [] },
  );
  const nodes = fc.tuple(fc.constantFrom(K3S, RKE2, KUBEADM, EKS), fields, flags).map(([node, own, more]): Node => {
    const put = (base: Config): Config => ({ ...base, ...own });
    const dropIns = node.file === null ? [...(node.dropIns ?? []), own] : node.dropIns;
    return { ...node, file: node.file && put(node.file), dropIns, flags: { ...node.flags, ...more } };
  });
  /** Some fields, often as the kubelet runs them, and of maps often only the first key. */
  const payloads = (node: Node): fc.Arbitrary<Config> =>
    fc.tuple(fields, fc.array(fc.nat(9), { minLength: 15, maxLength: 15 })).map(([others, dice]) => {
      const running = configzOf(node);
      const chosen = Object.entries(others).filter((_, index) => (dice[index] ?? 0) > 5);
      return Object.fromEntries(
        chosen.map(([name, other], index) => {
          const value = (dice[14 - index] ?? 0) > 0 ? (running[name] ?? other) : other;
          const isCut = /evictionHard|Gates/.test(name) && (dice[index] ?? 0) > 7;
          return [name, isCut ? Object.fromEntries(Object.entries(value as object).slice(0, 1)) : value];
        }),
      );
    });
  const cases = nodes.chain((node) => fc.tuple(fc.constant(node), payloads(node)));

  it('is told by the plan as the agent then decides, or left open', async () => {
    const said = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(cases, async ([node, payload]) => {
        const word = planSays(node, payload);
        said.set(word, (said.get(word) ?? 0) + 1);
        if (word === 'unclear' || word === 'refused') return;
        // What a flag wins over, preflight refuses.
        const isRefused = found(payload, { kubeletArgs: argsOf(node) }).some((finding) => /flag-shadows/.test(finding));
        const restarts = isRefused || !(await agentKeepsRunning(node, payload));
        assert.equal(restarts ? 'restart' : 'no restart', word);
      }),
      { numRuns: 400 },
    );
    for (const word of ['no restart', 'restart', 'unclear'])
      assert.ok((said.get(word) ?? 0) > 10, `${word}: ${said.get(word)}`);
  });
});
