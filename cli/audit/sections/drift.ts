import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import type { LoadedRepo, ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { createPoolChooser } from '#reconciler/policy/pool-selection/choose-pool.ts';
import { poolFor } from '../../class-of-node.ts';
import type { InventoryNode } from '../../inventory/inventory-node.ts';
import { type AuditSection, BOUNDS, type Evidence } from '../audit-report.ts';
import { checkOf, type Rule, sectionOf, type Verdict } from '../checks.ts';
import { type NodeFacts, wholeConfig } from '../node-facts.ts';

/** A field of a node that is not as the repository has it. */
interface Drifted {
  readonly node: string;
  readonly field: string;
  readonly evidence: readonly Evidence[];
}

/** Which nodes run something else than their pools say, field by field. Pure. */
export function auditDrift(nodes: readonly NodeFacts[], repo: LoadedRepo): AuditSection {
  const pools = repo.pools.flatMap((pool) => (pool.status === 'valid' ? [pool] : []));
  const poolOf = poolChooser(pools);
  const placed = nodes.map((facts) => ({ facts, pool: poolOf(facts) }));
  const compared = placed.flatMap(({ facts, pool }) => (typeof pool === 'string' ? [] : [{ facts, pool }]));
  const drifted = compared.flatMap(({ facts, pool }) => driftOf(facts, pool));
  const byField = Map.groupBy(drifted, ({ field }) => field);
  const others = Map.groupBy(placed, ({ pool }) => (typeof pool === 'string' ? pool : undefined));
  const invalid = repo.pools.filter((pool) => pool.status === 'invalid').map(({ name }) => name);
  const checks = [
    ...[...byField].map(([field, of]) =>
      checkOf(
        { ...DRIFT, id: `drift/${field}`, title: `Run ${field} as the repository has it` },
        of.map(({ node, evidence }) => [node, { result: 'fail', evidence }] as const),
      ),
    ),
    ...[...others].flatMap(([because, of]) =>
      because === undefined
        ? []
        : [
            checkOf(
              { ...NOT_COMPARED, because },
              of.map(({ facts }) => [facts.name, notCompared(because)] as const),
            ),
          ],
    ),
  ];
  const differing = new Set(drifted.map(({ node }) => node)).size;
  const summary = [
    differing === 0
      ? `${compared.length} of ${nodes.length} nodes run what the repository says`
      : `${differing} of ${compared.length} nodes run something else than the repository says`,
    ...(compared.length === nodes.length ? [] : [`${nodes.length - compared.length} are not compared`]),
    ...(invalid.length === 0 ? [] : [`pools with errors: ${invalid.slice(0, BOUNDS.passedNames).join(', ')}`]),
  ].join('; ');
  return sectionOf({ id: 'drift', title: 'Drift', summary, checks });
}

const DRIFT = {
  severity: 'medium',
  because: 'another file or a flag wins, the kubelet was not restarted, or no agent has been here',
  fix: { how: 'kubelet-gitops why NODE FIELD says where the value comes from' },
  references: [],
} as const satisfies Partial<Rule>;

const NO_POOL = 'no pool selects these nodes';

const NOT_COMPARED: Rule = {
  id: 'drift/not-compared',
  title: 'Give every node a pool',
  severity: 'low',
  references: [],
};

const notCompared = (because: string): Verdict => ({
  result: because === NO_POOL ? 'info' : 'not-visible',
  evidence: [],
});

/** What the repository gives a node; a text says why that is not known. */
function poolChooser(pools: readonly ValidPool[]): (facts: NodeFacts) => ValidPool | string {
  const choose = createPoolChooser(pools.map(({ name, spec }) => ({ name, ...spec })));
  const byName = new Map(pools.map((pool) => [pool.name, pool] as const));
  return (facts) => {
    const choice = choose(facts);
    if (choice.choice === 'none') return NO_POOL;
    if (choice.choice === 'conflict') return 'several pools of the same priority select these nodes';
    if (choice.choice !== 'pool') return choice.because;
    const unsized = { name: facts.name, labels: facts.labels, capacity: {} } as InventoryNode;
    const pool = poolFor(byName.get(choice.pool), facts.node ?? unsized);
    return pool ?? 'the pool has no config for the machine, or its size is not known';
  };
}

function driftOf(facts: NodeFacts, { value, positionOf }: ValidPool): readonly Drifted[] {
  return contradictions(value, wholeConfig(facts), facts.kubeletVersion).map((phrase): Drifted => {
    const [field = '', ...values] = phrase.split('=');
    const [runs = '', wanted = ''] = values.join('=').split(' instead of ');
    const at = positionOf?.(keysOf(field));
    const place = at?.file === undefined ? {} : { place: `${at.file}:${at.line}` };
    return {
      node: facts.name,
      field,
      evidence: [
        { field, value: runs },
        { field, value: wanted, by: 'repository', ...place },
      ],
    };
  });
}

/** Of `logging.verbosity`, `evictionHard["memory.available"]`. */
function keysOf(field: string): readonly string[] {
  const [, path = '', key] = /^([^[]+)(?:\["(.*)"\])?$/.exec(field) ?? [];
  return [...path.split('.'), ...(key === undefined ? [] : [key])];
}
