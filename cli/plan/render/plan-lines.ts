import type { ChangeCost } from '#shared/contract/kubelet-config/fields/field.ts';
import { formatRoughly } from '#shared/runtime/rough-duration.ts';
import type { Spread } from '#reconciler/policy/forecast/duration-range.ts';
import { formatResource, type NodeResource } from '#reconciler/policy/allocatable/allocatable.ts';
import type { FieldChange } from '#shared/contract/kubelet-config/field-diff.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import type { AllocatableChange, MergePlan, MovePlan, NodePlan, PoolPlan, RolloutPlan } from '../merge-plan.ts';
import type { Absent } from '../who-can-begin.ts';
import { NEW_CLUSTER } from '../spec-changes.ts';
import { UNSET } from '../unset-meaning.ts';
import { yamlOfJson } from '../../yaml-value.ts';
import { type SimilarPools, MANY_POOLS } from './group-pools.ts';

/** What a change costs a node, for people. */
export const COST_WORDS: Readonly<Record<ChangeCost, string>> = {
  restart: 'restart of the kubelet',
  'state-file:cpu': "restart, and the CPU manager's state file is put aside; a drain where its policy is static",
  'state-file:memory': "restart, and the memory manager's state file is put aside; a drain where its policy is Static",
  drain: 'drain of the node (needs disruption.allow)',
  reboot: 'reboot of the machine (needs disruption.reboot)',
  never: 'not meant to be changed on a live node',
};

const HEADS: Readonly<Record<Exclude<PoolPlan['change'], 'removed'>, string>> = {
  added: 'is new',
  changed: 'changes',
  invalid: 'has errors, and keeps its current config',
};

/** @param moves by which the nodes of a pool that goes are followed */
export function headOf([first, ...rest]: SimilarPools, moves: readonly MovePlan[]): string {
  if (first.change === 'removed') return `Pool ${first.name} is removed: ${destinationOf(first, moves)}`;
  if (rest.length === 0 && !changesItself(first)) return `Pool ${first.name} gets other nodes`;
  if (rest.length === 0)
    return `Pool ${first.name} ${first.from === undefined ? HEADS[first.change] : comesFrom(first, first.from)}`;
  const names = listed(
    [first, ...rest].map(({ name }) => name),
    MOST_POOLS,
  );
  if (!changesItself(first)) return `Pools ${names} get other nodes`;
  return `Pools ${names} ${first.change === 'added' ? 'are new, and alike' : 'change alike'}`;
}

function destinationOf({ name }: PoolPlan, moves: readonly MovePlan[]): string {
  const places = moves.flatMap(({ from, to }) => (from === name ? [to ?? 'their local config'] : []));
  return places.length === 0
    ? 'nodes that it has go to another pool, or back to their local config'
    : `its nodes go to ${places.join(' and ')}`;
}

/** A pool may only get other nodes: by their labels' part in its selector, or by another pool that lets them go. */
const changesItself = ({ change, fields, spec }: PoolPlan): boolean =>
  change !== 'changed' || fields.length + spec.length > 0;

/** `2 pools change, 48 nodes: 40 kubelets restart, 8 nodes would refuse the config; about 2h`; undefined where no node is touched. */
export function summaryLine({ summary, knowsNodes, moves, refusal }: MergePlan): string | undefined {
  const { pools, nodes, restarts, reboots, refused, waiting, takenOver } = summary;
  if (!knowsNodes || (nodes === 0 && moves.length === 0)) return undefined;
  const some = (count: number, what: string, many = `${what}s`): string => `${count} ${count === 1 ? what : many}`;
  const parts = [
    some(restarts, 'kubelet restarts', 'kubelets restart'),
    ...(refused > 0 ? [`${some(refused, 'node')} would refuse the config`] : []),
    ...(waiting > 0 ? [`${some(waiting, 'node')} would wait`] : []),
    ...(takenOver > 0 ? [`${some(takenOver, 'kubelet runs', 'kubelets run')} it already`] : []),
    some(reboots, 'reboot'),
  ];
  const time = restarts === 0 ? '' : `; ${timeOf(summary)}`;
  const where = refusal === undefined ? '' : 'Once it is allowed: ';
  return `${where}${some(pools, 'pool')}, ${some(nodes, 'node')}: ${parts.join(', ')}${time}`;
}

/** The heading of what else of the cluster's file changes, and its lines; undefined for nothing. */
export function clusterBlock({
  clusterSpec,
  cluster,
}: MergePlan): readonly [head: string, ...lines: string[]] | undefined {
  if (clusterSpec.length === 0) return undefined;
  const file = `clusters/${cluster}.yaml`;
  return clusterSpec[0] === NEW_CLUSTER ? [`${file} ${NEW_CLUSTER}`] : [`${file} changes`, ...clusterSpec];
}

/** That the comparison does not begin where the cluster is. */
export const inForceLine = ({ inForce }: MergePlan): string | undefined =>
  inForce === undefined
    ? undefined
    : `The base is not in force there; ${inForce.slice(0, 12)} is. --base ${inForce.slice(0, 12)} shows all that would come into force`;

/** With what a pool is compared that has errors in the base. */
export const keptLines = (pools: SimilarPools): readonly string[] =>
  pools.flatMap(({ name, keptFrom }) => {
    if (keptFrom === undefined) return [];
    return keptFrom === null
      ? [`${name} has errors in the base, and what it keeps is not found in this clone: compared with nothing`]
      : [`${name} has errors in the base; compared with what it keeps, that of ${keptFrom.slice(0, 12)}`];
  });

/** A pool that was renamed, or split off another one. */
function comesFrom({ fields, members, nodes }: PoolPlan, from: string): string {
  if (fields.length + nodes.length > 0) return `is new, and its nodes come from ${from}`;
  return members === 0
    ? `is new, and says what ${from} said`
    : `is new, and its nodes run its config already, as that of ${from}: no kubelet restarts`;
}

const MOST_POOLS = 10;

/** What becomes of the nodes, pool by pool; the first line of each is the one to be seen. */
export function rolloutBlocks(
  pools: SimilarPools,
  knowsNodes: boolean,
): readonly { readonly line: string; readonly order: readonly string[] }[] {
  const isOne = pools.length === 1;
  const blocks = pools.flatMap((pool) => {
    const line = rolloutLine(pool);
    const order = pools.length < MANY_POOLS ? orderLines(pool) : [];
    return line === undefined ? [] : [{ line: isOne ? line : `${pool.name}: ${line}`, order }];
  });
  const empty = pools.filter(({ members, change }) => knowsNodes && members === 0 && change !== 'removed');
  if (empty.length === 0 || pools[0].change === 'invalid') return blocks;
  const where = isOne
    ? 'it'
    : listed(
        empty.map(({ name }) => name),
        MOST_POOLS,
      );
  return [...blocks, { line: `no node belongs to ${where}`, order: [] }];
}

/** What a field was and becomes. */
export function sidesOf({ unset }: Pick<PoolPlan, 'unset'>, change: FieldChange): readonly [string, string] {
  const side = (value: string | undefined, meaning: keyof typeof UNSET): string => {
    if (value !== undefined) return yamlOfJson(value);
    return `${UNSET[meaning]}${change.default === undefined ? '' : ` (default ${yamlOfJson(change.default)})`}`;
  };
  return [side(change.before, unset.before), side(change.after, unset.after)];
}

/** How many nodes, budget and time. */
function rolloutLine({ nodes, rollout, waits }: PoolPlan): string | undefined {
  if (rollout === undefined || waits !== undefined) return undefined;
  const { budget, waves } = rollout;
  const count = counted(nodes);
  if (waves.length === 0) {
    const able = nodes.filter(({ warnings }) => !warnings.some(({ refuses }) => refuses));
    if (rollout.waitsFor !== undefined)
      return `${counted(able)} would change, but wait for ${absentOf(rollout.waitsFor)}`;
    return `${count} would change, but ${budget === 0 ? 'maxUnavailable' : 'maxUnavailablePerZone'} allows none`;
  }
  if (rollout.stoppedBy !== undefined)
    return `${listed(rollout.stoppedBy)} would refuse it, and the pool then halts: ${waves.flat().length - rollout.stoppedBy.length} of ${count} get the config`;
  const steps = `${waves.length} ${waves.length === 1 ? 'step' : 'steps'}`;
  return `${count}, ${budget} at a time, in ${steps}; ${timeOf(rollout)}`;
}

/** `about 1 h 50 min (1 h 40 min to 2 h 20 min) if all goes well, plus closed windows, drains`. */
function timeOf({ expectedMs, quickMs, slowMs, untimed = [] }: Spread & Partial<Pick<RolloutPlan, 'untimed'>>): string {
  const [usual, quick, slow] = [expectedMs, quickMs, slowMs].map(formatRoughly);
  const more = untimed.length === 0 ? '' : `, plus ${untimed.join(', ')}`;
  return `about ${usual}${quick === slow ? '' : ` (${quick} to ${slow})`} if all goes well${more}`;
}

/** `w1, w2: the node is cordoned`. */
const absentOf = (absent: readonly Absent[]): string =>
  absent.map(({ nodes, because }) => `${listed(nodes)}: ${because}`).join('; ');

/** Nodes that are selected, and left alone. */
export const unsupportedLines = ({ unsupported = [] }: MergePlan): readonly string[] =>
  unsupported.map((each) => `Left alone, and in no pool: ${absentOf([each])}`);

/** What clusters that are followed have no nodes like. */
export function counterpartLines({ counterparts }: MergePlan): readonly string[] {
  if (counterparts === undefined) return [];
  const { clusters, pools, isHeld } = counterparts;
  const what = `${clusters.join(' and ')} ${clusters.length === 1 ? 'proves' : 'prove'} nothing of ${pools.join(', ')}`;
  return [isHeld ? `${what}: it would wait for kubelet-gitops approve` : what];
}

const counted = ({ length }: readonly unknown[]): string => `${length} ${length === 1 ? 'node' : 'nodes'}`;

/** That nodes would be left as they are, and why. */
export function waitLines(pools: SimilarPools): readonly string[] {
  const [{ waits }] = pools;
  const nodes = pools.flatMap((pool) => pool.nodes);
  return waits === undefined ? [] : [`${nodes.length === 0 ? 'nodes' : counted(nodes)} would wait: ${waits}`];
}

/** Which nodes, in which order: by canaries and steps where there are any, and otherwise turn by turn. */
function orderLines({ name: pool, rollout, waits }: PoolPlan): readonly string[] {
  if (rollout === undefined || rollout.waves.length === 0 || waits !== undefined) return [];
  if (rollout.stoppedBy !== undefined) return [];
  const { stages, waves } = rollout;
  if (stages.length > 1) return [...stages.flatMap((stage) => stageLines(pool, stage)), ...absentLines(rollout)];
  const turns = waves.slice(0, MOST_TURNS).map((nodes) => listed(nodes));
  const more = waves.length - turns.length;
  return [`order: ${turns.join(' → ')}${more > 0 ? ` → and ${more} more` : ''}`, ...absentLines(rollout)];
}

/** Who changes in it, and that the next one waits for a person. */
const stageLines = (pool: string, { name, nodes, approval }: RolloutPlan['stages'][number]): readonly string[] => [
  `${name}: ${nodes.length === 0 ? 'no more nodes' : listed(nodes)}`,
  ...(approval === undefined ? [] : [`then it waits until a person approves it: kubelet-gitops approve ${pool}`]),
];

/** Whom the time does not include. */
function absentLines({
  absent,
  waitsFor,
}: { readonly [key in 'absent' | 'waitsFor']?: RolloutPlan[key] | undefined }): readonly string[] {
  return [
    ...(absent === undefined ? [] : [`not in that time: ${absentOf(absent)}`]),
    ...(waitsFor === undefined ? [] : [`then the others wait for ${absentOf(waitsFor)}`]),
  ];
}

const MOST_TURNS = 6;

/** What is to be said of a new pool that changes nothing. */
export function adoptedLine({ name, nodes }: PoolPlan): string {
  const what = nodes.length === 1 ? 'its node runs' : 'its nodes run';
  return `Pool ${name} is new and matches what ${what} already: files are written, no kubelet restarts (${listed(nodes.map((node) => node.name))})`;
}

/** Which nodes that had no config of ours need no restart for it, and of which that is unknown here. */
export function takeOverLines(nodes: readonly NodePlan[]): readonly string[] {
  const names = (which: (node: NodePlan) => boolean): readonly string[] => nodes.filter(which).map(({ name }) => name);
  const [known, unasked, unseen] = [
    names(({ runsAlready }) => runsAlready),
    names(({ unclear }) => unclear === 'not-asked'),
    names(({ unclear }) => unclear === 'own-config'),
  ];
  const line = (of: readonly string[], text: string): readonly string[] =>
    of.length === 0 ? [] : [`${listed(of)}: ${text}`];
  return [
    ...line(known, 'already runs this: files are written, the kubelet is not restarted'),
    ...line(
      unasked,
      'what the kubelet runs is not known here; one that already runs this is not restarted (--running cluster asks)',
    ),
    ...line(
      unseen,
      'the kubelet runs all that this sets; whether it restarts depends on the files of the node itself, which are not known here',
    ),
  ];
}

/** What a change of the fields may bring about; fields with the same risk are named together. */
export function risksOf({ fields }: PoolPlan): readonly { readonly paths: readonly string[]; readonly risk: string }[] {
  const risky = fields.flatMap(({ path, risk }) => (risk === undefined ? [] : [{ path, risk }]));
  return [...Map.groupBy(risky, ({ risk }) => risk)].map(([risk, on]) => ({ paths: on.map(({ path }) => path), risk }));
}

/** Of a pool with computed values: what each class of machines gets. */
export function classLines({ classes = [] }: PoolPlan): readonly string[] {
  const shown = classes.slice(0, MOST_LISTED_CLASSES).map(({ name, nodes, because, values }) => {
    const whose = `machines with ${name} (${listed(nodes)})`;
    if (because !== undefined) return `${whose} keep what they have: ${because}`;
    const what = values.map(({ field, before, after }) =>
      before === after ? `${field} ${after}` : `${field} ${before} → ${after}`,
    );
    return `${whose}: ${what.join(', ')}`;
  });
  const rest = classes.length - shown.length;
  return rest > 0 ? [...shown, `and ${rest} more classes`] : shown;
}

const MOST_LISTED_CLASSES = 20;

/** Nodes with the same effect are named together. */
export function capacityLines(nodes: readonly NodePlan[]): readonly string[] {
  const effects = nodes.flatMap(({ name, allocatable }) =>
    allocatable.map(({ resource, before, after, atMost }) => ({
      name,
      text: `allocatable ${resource}: ${amountsOf(resource, before, after).join(atMost === undefined ? ' → ' : ' → at most ')}${sumOf(resource, atMost)}`,
    })),
  );
  return [...Map.groupBy(effects, ({ text }) => text)].map(
    ([text, on]) => `${text} on ${listed(on.map(({ name }) => name))}`,
  );
}

/** In one unit, and in a smaller one where they would read the same. */
function amountsOf(resource: NodeResource, ...amounts: readonly number[]): readonly string[] {
  if (resource === 'cpu' || resource === 'pods') return amounts.map((amount) => formatResource(resource, amount));
  const isLarge = amounts.some((amount) => Math.abs(amount) >= 2 ** 30);
  const large = amounts.map((amount) => `${(amount / 2 ** 30).toFixed(1)}Gi`);
  return isLarge && new Set(large).size > 1 ? large : amounts.map((amount) => `${Math.round(amount / 2 ** 20)}Mi`);
}

/** `(capacity 15.1Gi - kubeReserved 40.0Gi; what the node's own config reserves comes on top)`. */
function sumOf(resource: NodeResource, atMost: AllocatableChange['atMost']): string {
  if (atMost === undefined) return '';
  const parts = atMost.taken.map(({ what, amount }) => `${what} ${formatResource(resource, amount)}`);
  const sum = [`capacity ${formatResource(resource, atMost.capacity)}`, ...parts].join(' - ');
  return ` (${sum}; what the node's own config reserves comes on top)`;
}

export function warningLines(nodes: readonly NodePlan[]): readonly string[] {
  const all = nodes.flatMap(({ name, warnings }) =>
    warnings.map(({ text, here }) => ({ name: here === undefined ? name : `${name} (${here})`, text })),
  );
  return [...Map.groupBy(all, ({ text }) => text)].map(
    ([text, on]) => `${listed(on.map(({ name }) => name))}: ${text}`,
  );
}

/** Which nodes go where. */
export function moveLine({ from, to, contested, nodes, fields }: MovePlan): string {
  const place = (pool: string | null): string => pool ?? 'no pool (local config)';
  // Nodes in conflict are left as they are, and git does not say what that is.
  const start =
    contested === undefined ? place(from) : `a conflict of ${contested.join(' and ')}, with what they ran before it,`;
  const what = to === null && fields.length > 0 ? '; they lose:' : '';
  return `${listed(nodes)} from ${start} to ${place(to)}${what}`;
}

/** How nodes go back to their local config; empty where they do not. */
export function leavingLines({ leaving, budget, absent, ...time }: MovePlan): readonly string[] {
  if (leaving.length === 0) return [];
  if (budget === 0) return [`${counted(leaving)} would go, but wait for ${absentOf(absent ?? [])}`];
  const line = `${counted(leaving)}, ${budget} at a time; ${timeOf(time)}`;
  return [line, ...absentLines({ absent }), ...capacityLines(leaving)];
}

const listed = (names: readonly string[], most = 5): string => firstFew(names, most);
