import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { repositoryFiles } from '#cli/import/files/repository-files.ts';
import { nonDefaultsOf } from '#cli/import/non-defaults.ts';
import { importableNodes, type FleetMember, type NodeReading } from '#cli/import/nodes/importable-nodes.ts';
import { type Grouped, groupNodes } from '#cli/import/pools/group-nodes.ts';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { isEmptyPlan, makePlan } from '#cli/plan/make-plan.ts';
import type { MergePlan } from '#cli/plan/merge-plan.ts';
import { createPoolChooser } from '#reconciler/policy/pool-selection/choose-pool.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { overlayOnLocal } from '#shared/contract/kubelet-config/effective.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';
import { fc } from '../../support/property.ts';
import { messyFleets } from './support/messy-fleet.ts';

type Config = Readonly<Record<string, unknown>>;

/** What the reconciler makes of an import. */
function imported(nodes: readonly NodeReading[]): {
  readonly members: readonly FleetMember[];
  readonly grouped: Grouped;
  readonly pools: readonly ValidPool[];
  readonly plan: MergePlan;
} {
  const { members, strangers } = importableNodes(nodes, true);
  const grouped = groupNodes(members, strangers);
  const minors = new Map(members.map(({ name, minor }) => [name, minor ?? 37] as const));
  const files = repositoryFiles(grouped, 'prod', minors);
  const read = [...files].map(([path, text]) => [path, { path, oid: path, bytes: Buffer.from(text) }] as const);
  const repo = loadRepo(new Map(read), { cluster: 'prod' });
  const { pools, findings } = repo;
  assert.deepEqual(findings, []);
  const valid = pools.filter((pool) => pool.status === 'valid');
  assert.deepEqual(
    pools.filter((pool) => pool.status === 'invalid').flatMap((pool) => pool.findings),
    [],
  );
  const plan = makePlan({
    base: { name: 'nothing', commit: undefined, repo: loadRepo(new Map(), { cluster: 'prod' }), kept: new Map() },
    head: { name: 'HEAD', repo },
    cluster: 'prod',
    nodes: nodes.map(inventoryNode),
    inForce: undefined,
  });
  return { members, grouped, pools: valid, plan };
}

const inventoryNode = ({ running, ...node }: NodeReading): InventoryNode => ({
  ...node,
  osImage: '',
  ready: true,
  capacity: {},
  allocatable: {},
  pods: undefined,
  ...(running === undefined ? {} : { running }),
});

describe('importing a messy fleet', () => {
  it('gives every node one pool, or names it as left out; the plan of it says that nothing changes', () => {
    fc.assert(
      fc.property(messyFleets, (nodes) => {
        const { members, grouped, pools, plan } = imported(nodes);
        // What weakens a node is said of any first commit, whatever runs already.
        const found = plan.findings.filter(({ kind }) => kind !== 'security');
        const isEmpty = isEmptyPlan({ ...plan, findings: found });
        if (pools.length > 0) assert.ok(isEmpty, JSON.stringify(plan, null, 1));
        const choose = createPoolChooser(pools.map(({ name, spec }) => ({ ...spec, name })));
        const poolOf = new Map(
          grouped.groups.flatMap(({ name, nodes: of }) => of.map((node) => [node, name] as const)),
        );
        assert.equal(poolOf.size + grouped.lost.length, members.length);
        for (const node of nodes) {
          const pool = poolOf.get(node.name);
          const choice = choose(node);
          if (pool === undefined) {
            assert.ok(
              choice.choice !== 'pool' && choice.choice !== 'conflict',
              `${node.name}: ${JSON.stringify(choice)}`,
            );
          } else assert.deepEqual(choice, { choice: 'pool', pool }, node.name);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('restarts nothing when its pools are committed one by one, the highest priority first', () => {
    const committed = (files: ReadonlyMap<string, string>, pools: readonly string[]) => {
      const here = [...files].filter(
        ([path]) => !path.startsWith('pools/') || pools.includes(path.split('/')[1] ?? ''),
      );
      const read = here.map(([path, text]) => [path, { path, oid: path, bytes: Buffer.from(text) }] as const);
      return loadRepo(new Map(read), { cluster: 'prod' });
    };
    fc.assert(
      fc.property(messyFleets, (nodes) => {
        const { members, strangers } = importableNodes(nodes, true);
        const grouped = groupNodes(members, strangers);
        const files = repositoryFiles(grouped, 'prod', new Map(members.map(({ name, minor }) => [name, minor ?? 37])));
        const order = grouped.groups.toSorted((one, other) => other.priority - one.priority).map(({ name }) => name);
        for (const [index, name] of order.entries()) {
          const plan = makePlan({
            base: { name: 'before', commit: undefined, repo: committed(files, order.slice(0, index)), kept: new Map() },
            head: { name: 'after', repo: committed(files, order.slice(0, index + 1)) },
            cluster: 'prod',
            nodes: nodes.map(inventoryNode),
            inForce: undefined,
          });
          assert.equal(plan.summary.restarts + plan.summary.waiting + plan.summary.refused, 0, name);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('means nothing else to any kubelet, and forgets nothing that it does not name', () => {
    fc.assert(
      fc.property(messyFleets, (nodes) => {
        const { members, grouped, pools } = imported(nodes);
        for (const { name, nodes: of } of grouped.groups) {
          const pool = pools.find((each) => each.name === name);
          assert.ok(pool !== undefined, name);
          for (const member of members.filter((each) => of.includes(each.name))) {
            const local = nodes.find((each) => each.name === member.name)?.running ?? {};
            assert.equal(canonicalize(mergePatch(local, pool.value) as Config), canonicalize(local), member.name);
            const minor = member.minor ?? 37;
            const laid = nonDefaultsOf(overlayOnLocal(local, pool.value, `1.${minor}`), minor);
            assert.equal(canonicalize(laid.config), canonicalize(member.config), member.name);
            const left = grouped.scattered.filter((each) => each.nodes.includes(member.name)).map(({ field }) => field);
            const said = Object.entries(member.config).filter(([field]) => !left.includes(field));
            assert.equal(canonicalize(pool.value), canonicalize(Object.fromEntries(said)), member.name);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it('is the same whatever order the nodes come in', () => {
    const written = (nodes: readonly NodeReading[]): string => {
      const { members, strangers } = importableNodes(nodes, true);
      return JSON.stringify([...repositoryFiles(groupNodes(members, strangers), 'prod', new Map())]);
    };
    fc.assert(
      fc.property(messyFleets, (nodes) => {
        assert.equal(written(nodes.toReversed()), written(nodes));
      }),
      { numRuns: 100 },
    );
  });
});
