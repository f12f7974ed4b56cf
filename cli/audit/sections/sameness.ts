import { counted } from '../../import/format-lists.ts';
import { recogniseFormulas } from '../../import/formulas.ts';
import { nonDefaultsOf } from '../../import/non-defaults.ts';
import type { FleetMember } from '../../import/nodes/importable-nodes.ts';
import { type FleetNode, fleetNodes, type Labels, mostCommon } from '../../import/pools/fleet-node.ts';
import { groupNodes } from '../../import/pools/group-nodes.ts';
import { type LabelGroup, labelGroupsOf } from '../../import/pools/label-groups.ts';
import { differencesOf } from '../../import/pools/leaves.ts';
import { IDENTITY, oncePerConfig } from '../alike.ts';
import { type AuditSection, BOUNDS, type Evidence, type FleetConfig, type FleetGroup } from '../audit-report.ts';
import { checkOf, cut, type Rule, sectionOf, type Verdict } from '../checks.ts';
import { judgedBy, type NodeFacts, shownValue } from '../node-facts.ts';

/** A node's config without defaults, and with all of what import would leave to the node but its identity. */
export const withoutDefaults = (facts: NodeFacts): FleetMember['config'] =>
  nonDefaultsOf(facts.running, judgedBy(facts), (path) => IDENTITY.has(path)).config;

/** How alike the nodes are: by label, who differs from most of its like, and which versions there are. Pure. */
export function auditSameness(nodes: readonly NodeFacts[], strangers: readonly Labels[] | undefined): AuditSection {
  const { members } = recogniseFormulas(membersOf(nodes));
  const fleet = fleetNodes(members, strangers ?? []);
  const versions = new Map(nodes.map((facts) => [facts.name, versionOf(facts)] as const));
  const labelled = labelGroupsOf(fleet, strangers ?? [], strangers !== undefined);
  const groups = labelled
    .map((group) => fleetGroupOf(group, versions))
    .toSorted((one, other) => other.count - one.count)
    .slice(0, BOUNDS.classes);
  // A label that tells these from the others is a reason to differ.
  const grouped = groupNodes(members, strangers);
  const byName = new Set(grouped.groups.flatMap((group) => (group.isByName ? group.nodes : [])));
  const unexplained = new Set([...byName, ...grouped.lost]);
  const verdicts = labelled.flatMap((group) => verdictsOf(group, unexplained));
  const minors = new Set([...versions.values()].filter((version) => version !== ''));
  const configs = new Set(fleet.map(({ kind }) => kind)).size;
  const differing = verdicts.filter(([, { result }]) => result === 'fail').length;
  const summary = [
    `${counted(configs, 'config')} on ${counted(nodes.length, 'node')} in ${counted(labelled.length, 'group')}`,
    differing === 0 ? 'none differs without a label' : `${counted(differing, 'node')} unlike most of their label`,
    ...(minors.size === 0 ? [] : [`kubelets ${[...minors].toSorted(byVersion).join(', ')}`]),
  ].join('; ');
  const rule = differing === 0 ? DIFFERS : { ...DIFFERS, ...UNEXPLAINED };
  const checks = [checkOf(rule, verdicts), checkOf(VERSIONS, versionVerdicts(labelled, versions))];
  return sectionOf({ id: 'sameness', title: 'Sameness', summary, checks, groups });
}

function membersOf(nodes: readonly NodeFacts[]): readonly FleetMember[] {
  const configOf = oncePerConfig(withoutDefaults);
  return nodes.map((facts) => ({
    name: facts.name,
    labels: facts.labels,
    minor: judgedBy(facts),
    ...(facts.node === undefined ? {} : { capacity: facts.node.capacity }),
    config: configOf(facts),
    leftOut: [],
  }));
}

const DIFFERS: Rule = {
  id: 'sameness/differs',
  title: 'Run the same config on nodes of one label',
  severity: 'low',
  references: [],
};

const UNEXPLAINED: Pick<Rule, 'because' | 'fix'> = {
  because: 'no label tells these nodes from the others: what holds for those may not hold here',
  fix: { how: 'give them the config of the others, or a label that says why they differ' },
};

const VERSIONS: Rule = {
  id: 'sameness/versions',
  title: 'Run one minor version on nodes of one label',
  severity: 'low',
  references: [],
};

const versionOf = ({ kubeletVersion }: NodeFacts): string => /^v?(1\.\d+)/.exec(kubeletVersion)?.[1] ?? '';

const byVersion = (one: string, other: string): number => one.localeCompare(other, 'en', { numeric: true });

/** Against what most of the group run; who runs that passes. */
function verdictsOf({ nodes }: LabelGroup, unexplained: ReadonlySet<string>): readonly (readonly [string, Verdict])[] {
  const [most] = mostCommon(nodes) ?? [];
  const model = nodes.find(({ kind }) => kind === most);
  // Nodes may share what they run.
  const known = new Map<FleetNode['config'], readonly Evidence[]>();
  const evidenceOf = (of: FleetNode, node: FleetNode): readonly Evidence[] => {
    const evidence =
      known.get(node.config) ??
      differencesTo(of, node).map(({ field, value, others }) => ({ field, value: `${value}, others ${others}` }));
    known.set(node.config, evidence);
    return evidence;
  };
  return nodes.map((node) => {
    if (model === undefined || node.kind === most) return [node.name, { result: 'pass', evidence: [] }] as const;
    const result = unexplained.has(node.name) ? 'fail' : 'info';
    return [node.name, { result, evidence: evidenceOf(model, node) }] as const;
  });
}

function differencesTo(model: FleetNode, node: FleetNode): FleetConfig['differences'] {
  const theirs = new Map(differencesOf(model.config, node.config).map((each) => [each.keys.join('.'), each.value]));
  return differencesOf(node.config, model.config)
    .slice(0, BOUNDS.evidence)
    .map(({ keys, value }) => {
      const field = cut(keys.join('.'));
      return { field, value: textOf(value, field), others: textOf(theirs.get(field), field) };
    });
}

/** A formula’s mark stands for an amount that follows the machine. */
const textOf = (value: unknown, field: string): string =>
  typeof value === 'string' && value.startsWith('\0profile ')
    ? `as profile ${value.slice('\0profile '.length)}`
    : value === undefined
      ? 'the default'
      : shownValue(value, field);

function fleetGroupOf({ name, nodes, requirements }: LabelGroup, versions: ReadonlyMap<string, string>): FleetGroup {
  const byKind = [...Map.groupBy(nodes, ({ kind }) => kind).values()].toSorted(
    (one, other) => other.length - one.length,
  );
  const model = byKind[0]?.[0];
  const configs = byKind.slice(0, BOUNDS.groups).map((alike, index): FleetConfig => {
    const names = alike.map((node) => node.name);
    const [node] = alike;
    const isModel = index === 0 || node === undefined || model === undefined;
    return {
      count: names.length,
      nodes: isModel ? names.slice(0, BOUNDS.passedNames) : names,
      differences: isModel ? [] : differencesTo(model, node),
    };
  });
  const minors = Map.groupBy(nodes, (node) => versions.get(node.name) ?? '');
  return {
    name,
    labels: (requirements ?? [])
      .map(({ key, operator, values }) =>
        values === undefined ? `${key} ${operator}` : `${key} ${operator} (${values.join(', ')})`,
      )
      .join(', '),
    count: nodes.length,
    versions: [...minors]
      .toSorted(([one], [other]) => byVersion(one, other))
      .map(([version, of]) => ({ version, count: of.length })),
    configs,
  };
}

function versionVerdicts(
  groups: readonly LabelGroup[],
  versions: ReadonlyMap<string, string>,
): readonly (readonly [string, Verdict])[] {
  return groups.flatMap(({ nodes }) => {
    const minors = new Set(nodes.map(({ name }) => versions.get(name)));
    return nodes.map(({ name }) => {
      const value = versions.get(name) ?? '';
      if (value === '') return [name, { result: 'not-visible', evidence: [] }] as const;
      const evidence = [{ field: 'kubeletVersion', value, by: 'node' as const }];
      return [name, { result: minors.size > 1 ? 'info' : 'pass', evidence }] as const;
    });
  });
}
