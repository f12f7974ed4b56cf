import assert from 'node:assert/strict';
import { isDeepStrictEqual as equal } from 'node:util';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { filesOf } from '../reconciler/policy/config-repo/support/load.ts';
import { createMemoryDisk } from '../support/agent/memory-disk.ts';
import { fc } from '../support/property.ts';
import { runsOf } from '../support/sample.ts';
import { installerOn } from '../support/agent/installer-on.ts';

type Tree = Readonly<Record<string, unknown>>;

const HEAD = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const OURS = { apiVersion: 'kubelet-gitops.dev/v1alpha1' };
const [FILE, DROP_INS] = ['/var/lib/kubelet/config.yaml', '/etc/kubernetes/kubelet.conf.d'];

/** Some of what is denied by default, as the table of the documents has it, and values that shut it. */
const DENIED = ['address', 'authentication', 'authorization', 'enableDebuggingHandlers', 'port', 'readOnlyPort'];
const DENIED_TOO = ['rotateCertificates', 'staticPodPath', 'tlsCertFile'];
const SHUTS: Tree = { enableDebuggingHandlers: false, readOnlyPort: 0 };

/** To the kubelet the same as not set. */
const UNSET: Tree = { protectKernelDefaults: false, readOnlyPort: 0, rotateCertificates: false };

/** Where a config has none at all. */
const DEFAULTS = { 'memory.available': '100Mi', 'nodefs.available': '10%' };
const THRESHOLDS: Tree = { evictionHard: DEFAULTS };

const fields = (isPayload: boolean): fc.Arbitrary<Tree> => {
  const nothing = isPayload ? [fc.constant(null)] : [];
  const either = <T>(...values: readonly T[]): fc.Arbitrary<T | null | undefined> =>
    fc.oneof(fc.constant(undefined), fc.constant(undefined), fc.constantFrom(...values), ...nothing);
  const map = (keys: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> =>
    fc.oneof(fc.constant(undefined), fc.record(keys), ...nothing);
  return fc
    .record({
      address: either('0.0.0.0', '10.0.0.1'),
      authentication: map({
        anonymous: map({ enabled: either(true, false) }),
        webhook: map({ cacheTTL: either('2m', '5m') }),
        x509: map({ clientCAFile: either('/etc/kubernetes/pki/ca.crt', '/ca') }),
      }),
      authorization: map({ mode: either('Webhook', 'AlwaysAllow') }),
      enableDebuggingHandlers: either(true, false),
      evictionHard: map({ 'memory.available': either('5%', '9%'), 'nodefs.available': either('5%', '9%') }),
      featureGates: map({ NodeSwap: either(true, false), MemoryQoS: either(true, false) }),
      logging: map({ verbosity: either(1, 2), format: either('text', 'json') }),
      maxPods: either(50, 110),
      port: either(10_250, 10_251),
      protectKernelDefaults: either(true, false),
      readOnlyPort: either(0, 10_255),
      rotateCertificates: either(true, false),
      staticPodPath: either('/etc/kubernetes/manifests', '/x'),
      tlsCertFile: either('/a.crt', '/b.crt'),
    })
    .map((config) => JSON.parse(JSON.stringify(config)) as Tree);
};

const names = fc.subarray([
  'authentication.x509',
  'authentication.webhook.cacheTTL',
  'evictionHard.memory.available',
  'featureGates.NodeSwap',
  'logging.verbosity',
  'maxPods',
  'port',
  'protectKernelDefaults',
  'staticPodPath',
]);

const within = (name: string, list: readonly string[]): boolean =>
  list.some((field) => `${name}.`.startsWith(`${field}.`));

/** Every value that is no map, by its name; null is nothing. */
function leaves(tree: unknown, above = ''): ReadonlyMap<string, unknown> {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) {
    const isNothing = tree === null || tree === undefined || (Object.hasOwn(UNSET, above) && UNSET[above] === tree);
    return new Map(isNothing ? [] : [[above, tree]]);
  }
  const below = Object.entries(tree).flatMap(([key, value]) => [
    ...leaves(value, above === '' ? key : `${above}.${key}`),
  ]);
  return new Map(below);
}

/** Without the branches that are denied, and those above them that are null: what is left is seldom refused. */
function without(tree: Tree, denied: (name: string) => boolean, above = ''): Tree {
  const kept = Object.entries(tree).flatMap(([key, value]) => {
    const name = above === '' ? key : `${above}.${key}`;
    if (denied(name)) return [];
    const isTree = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [[key, isTree ? without(value as Tree, denied, name) : value] as const];
  });
  return Object.fromEntries(kept.filter(([, value]) => !equal(value, {})));
}

interface World {
  readonly local: Tree;
  readonly payload: Tree;
  readonly apply: 'overlay' | 'replace';
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly poolDeny: readonly string[];
  readonly minor: string;
  readonly dropIns: boolean;
  /** Whether the author stays within policy, as far as names go. */
  readonly obeys: boolean;
}

/** What the node of a pool gets, by the repository's files and the real installer; undefined where the pool is refused. */
async function installedOn(world: World): Promise<Tree | undefined> {
  const { local, payload, apply, allow, deny, poolDeny, minor, dropIns } = world;
  const spec = { nodeSelector: { matchLabels: { pool: 'x' } }, apply, layers: ['./kubelet.yaml'] };
  const tree = {
    'clusters/prod.yaml': { ...OURS, kind: 'ClusterConfig', spec: { fields: { allow, deny } } },
    'pools/x/pool.yaml': { ...OURS, kind: 'KubeletPool', spec: { ...spec, fields: { deny: poolDeny } } },
    'pools/x/kubelet.yaml': { ...HEAD, ...payload },
  };
  const files = Object.entries(tree).map(([path, value]) => [path, JSON.stringify(value)] as const);
  const [pool] = loadRepo(filesOf(Object.fromEntries(files)), { cluster: 'prod', complaintsOf: () => [] }).pools;
  if (pool?.status !== 'valid') return undefined;
  const disk = createMemoryDisk();
  for (const directory of ['/etc', '/etc/kubernetes', DROP_INS, '/var', '/var/lib', '/var/lib/kubelet'])
    disk.plant(directory, { directory: true });
  disk.plant(FILE, JSON.stringify({ ...HEAD, ...local }));
  const installer = installerOn(disk, {
    configFile: FILE,
    dropInDirectory: dropIns ? DROP_INS : undefined,
    kubeletMinor: async () => minor,
  });
  const { keepFields = [] } = pool.spec;
  const plan = await installer.plan({ payload: pool.payload, apply, keepFields });
  await installer.install(plan);
  if (plan.method === 'file') return parse(disk.tree()[FILE] ?? '') as Tree;
  // As the kubelet merges it.
  return plan.effective;
}

describe('whatever policy denies, a node’s own value of it stays', () => {
  it('over any local config, under any config that is not refused', async () => {
    let installed = 0;
    const world = fc.record({
      local: fields(false),
      payload: fields(true),
      apply: fc.constantFrom('overlay', 'replace'),
      allow: names,
      deny: names,
      poolDeny: names,
      minor: fc.constantFrom('1.28', '1.31', '1.34', '1.37'),
      dropIns: fc.boolean(),
      obeys: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const { local, allow, deny, poolDeny, obeys } = given;
        const isDenied = (name: string): boolean =>
          within(name, [...deny, ...poolDeny]) || (within(name, [...DENIED, ...DENIED_TOO]) && !within(name, allow));
        const payload = obeys ? without(given.payload, isDenied) : given.payload;
        const file = await installedOn({ ...given, payload });
        if (file === undefined) return;
        installed += 1;
        const [had, has] = [leaves({ ...THRESHOLDS, ...local }), leaves({ ...THRESHOLDS, ...file })];
        for (const name of new Set([...had.keys(), ...has.keys()])) {
          if (!isDenied(name) || equal(had.get(name), has.get(name))) continue;
          // Of thresholds, a key that the local config leaves out may get its default back.
          if (!had.has(name) && leaves(THRESHOLDS).get(name) === has.get(name)) continue;
          const shuts =
            !within(name, [...deny, ...poolDeny]) && Object.hasOwn(SHUTS, name) && equal(payload[name], SHUTS[name]);
          assert.ok(shuts, `${name}: ${String(had.get(name))} → ${String(has.get(name))}`);
        }
      }),
      { numRuns: runsOf(20_000, 10) },
    );
    assert.ok(installed > 200, `${installed} configs were installed`);
  });
});
