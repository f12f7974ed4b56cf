import type { Fleet, UnreadableObject } from './fleet.ts';
import type { Step } from './steps.ts';

interface SkippedUnreadable<T> {
  readonly result: T;
  /** The fleet without what could not be read, which is in its `unreadable`. */
  readonly fleet: Fleet;
}

/** More of them are no accident of one object: then the mistake is ours, and nothing is decided. */
const MOST = 20;

/**
 * Decides about a fleet in which a decision about one object may throw: anybody who may write one annotation could
 * otherwise stop the whole fleet. What is at fault is found by leaving out more and more of the fleet, and stays as it is; a pool goes
 * with its nodes, so that it does not count as gone.
 *
 * @param decide pure, so that it can be asked again
 * @throws what `decide` throws if leaving objects out does not help
 */
export function skipUnreadable<T>(fleet: Fleet, decide: (fleet: Fleet) => T): SkippedUnreadable<T> {
  let rest = without(fleet.unreadable ?? [])(fleet);
  for (let found = 0; ; found += 1) {
    const present = rest;
    const outcome = attempt(() => decide(present));
    if (outcome.ok) return { result: outcome.result, fleet: rest };
    const works = (left: (fleet: Fleet) => Fleet): boolean => attempt(() => decide(left(present))).ok;
    const culprit = found < MOST ? culpritIn(subjectsOf(rest), works) : null;
    if (culprit === null) throw outcome.error;
    const left = { ...culprit, uid: uidOf(culprit, present), error: outcome.error };
    rest = { ...without([culprit])(rest), unreadable: [...(rest.unreadable ?? []), left] };
  }
}

type Subject = Pick<UnreadableObject, 'of' | 'name'>;

/** Objects that were readable at first and not at the write, beside what is left out already. */
export function withUnwritable(
  unreadable: readonly UnreadableObject[],
  unwritable: readonly UnreadableObject[],
  fleet: Fleet,
): readonly UnreadableObject[] {
  const known = new Set(unreadable.map(({ of, name }) => `${of} ${name}`));
  const more = unwritable.filter(({ of, name }) => !known.has(`${of} ${name}`));
  return [...unreadable, ...more.map((left) => ({ ...left, uid: uidOf(left, fleet) }))];
}

function uidOf({ of, name }: Subject, { nodes, pools }: Fleet): string {
  const read = attempt(() => (of === 'pool' ? pools.get(name)?.metadata.uid : nodes.get(name)?.uid));
  return read.ok ? (read.result ?? '') : '';
}

/** Nodes first: where leaving one node out helps, its pool is not held for it. */
const subjectsOf = ({ nodes, kubeletNodes, pools }: Fleet): readonly Subject[] => [
  ...[...new Set([...nodes.keys(), ...kubeletNodes.keys()])].map((name): Subject => ({ of: 'node', name })),
  ...[...pools.keys()].map((name): Subject => ({ of: 'pool', name })),
];

/** The last of the fewest subjects from the front without which it works; null if it works with all of them. */
function culpritIn(subjects: readonly Subject[], works: (left: (fleet: Fleet) => Fleet) => boolean): Subject | null {
  if (!works(without(subjects))) return null;
  let [fails, helps] = [0, subjects.length];
  while (helps - fails > 1) {
    const middle = Math.floor((fails + helps) / 2);
    if (works(without(subjects.slice(0, middle)))) helps = middle;
    else fails = middle;
  }
  return subjects[fails] ?? null;
}

/** Leaves subjects out of a fleet. */
const without =
  (subjects: readonly Subject[]) =>
  (fleet: Fleet): Fleet => {
    if (subjects.length === 0) return fleet;
    const pools = new Set(subjects.flatMap(({ of, name }) => (of === 'pool' ? [name] : [])));
    const nodes = new Set(subjects.flatMap(({ of, name }) => (of === 'node' ? [name] : [])));
    for (const [name, node] of fleet.kubeletNodes) {
      const pool = pools.size === 0 ? undefined : attempt(() => node.spec?.pool);
      if (pool?.ok === true && pool.result !== undefined && pools.has(pool.result)) nodes.add(name);
    }
    return {
      ...fleet,
      nodes: new Map([...fleet.nodes].filter(([name]) => !nodes.has(name))),
      kubeletNodes: new Map([...fleet.kubeletNodes].filter(([name]) => !nodes.has(name))),
      pools: new Map([...fleet.pools].filter(([name]) => !pools.has(name))),
    };
  };

type Outcome<T> = { readonly ok: true; readonly result: T } | { readonly ok: false; readonly error: unknown };

function attempt<T>(work: () => T): Outcome<T> {
  try {
    return { ok: true, result: work() };
  } catch (error) {
    return { ok: false, error };
  }
}

/**
 * Whether a step is about something that nothing could be decided about: a pool that was left out looks like one to be made, its
 * nodes look like those of another one, and a config source that only it or a node left out refers to looks unused.
 *
 * @param wanted pools whose nodes are known all the same, because git says so
 */
export function touchesUnreadable(
  step: Step,
  unreadable: readonly UnreadableObject[],
  wanted: { has(pool: string): boolean } = new Set(),
): boolean {
  if (unreadable.length === 0) return false;
  const nodes = namesOf(unreadable, 'node');
  const pools = namesOf(unreadable, 'pool');
  if (step.step === 'delete-config-source') return true;
  if (step.step === 'create-config-source') return namesOf(unreadable, 'config-source').has(step.config.name);
  if ('spec' in step && 'node' in step) {
    const present = attempt(() => step.node.spec?.pool);
    const stays = present.ok && present.result === step.spec.pool;
    const isDoubtful = [...pools].some((pool) => !wanted.has(pool));
    return nodes.has(step.node.metadata.name) || pools.has(step.spec.pool ?? '') || (isDoubtful && !stays);
  }
  const node = 'node' in step ? step.node : undefined;
  const pool = 'pool' in step ? (typeof step.pool === 'string' ? step.pool : step.pool.metadata.name) : undefined;
  return nodes.has(node ?? '') || pools.has(pool ?? '');
}

const namesOf = (unreadable: readonly UnreadableObject[], kind: UnreadableObject['of']): ReadonlySet<string> =>
  new Set(unreadable.filter(({ of }) => of === kind).map(({ name }) => name));
