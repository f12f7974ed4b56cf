import { isTemporary } from '#agent/host/disk/node-disk.ts';
import { isStagedPath } from '#agent/guard/guard-paths.ts';
import { UNIT_DIRECTORY } from './fake-guard.ts';
import { CONFIG_FILE } from './fake-kubelet.ts';
import { LOCAL_FILE, NEW_LOCAL_FILE, STATE, type WholeNode } from './whole-node.ts';

/** What has to be true of a node that something went wrong on. */
export interface Expectation {
  /** maxPods that it may come to rest on. */
  readonly endsOn: readonly number[];
  /** Starts of the kubelet since things went wrong. */
  readonly mostStarts: number;
  /** Every content that is no half-written file. */
  readonly known: ReadonlySet<string>;
  /** Half-written files, beside others and under names that nobody reads, which the next write takes away. */
  readonly leavesTemporaries: boolean;
}

/** @returns in words what is wrong; undefined where it holds */
type Invariant = (node: WholeNode, expected: Expectation) => string | undefined;

const assignedOrKnownGoodRuns: Invariant = (node, { endsOn }) => {
  const runs = Number(node.maxPods());
  if (!node.kubelet.isHealthy()) return `the kubelet is not healthy with ${runs}`;
  return endsOn.includes(runs) ? undefined : `${runs} runs instead of ${endsOn.join(' or ')}`;
};

const noHalfWrittenFileIsEverRead: Invariant = (node, { known }) => {
  for (const { files, refused } of node.kubelet.history) {
    if (refused !== undefined) return `the kubelet was started although ${refused}`;
    const torn = Object.entries(files).find(([, text]) => !known.has(text));
    if (torn !== undefined) return `the kubelet read ${torn[0]} as ${JSON.stringify(torn[1])}`;
  }
  return undefined;
};

const nothingCrashLoops: Invariant = (node, { mostStarts }) => {
  const starts = node.kubelet.history.length - 1;
  return starts <= mostStarts ? undefined : `the kubelet was started ${starts} times, more than ${mostStarts}`;
};

const localConfigIsNeverLost: Invariant = (node) => {
  const tree = node.disk.tree();
  const places = [tree[CONFIG_FILE], tree[`${STATE}/local/kubelet`]];
  const isSafe = places.some((text) => text === LOCAL_FILE || text === NEW_LOCAL_FILE);
  return isSafe ? undefined : 'the local config is gone';
};

const nothingIsLeftBehind: Invariant = (node, { leavesTemporaries }) => {
  const left = Object.keys(node.disk.tree()).find(
    (path) =>
      (isTemporary(path) && !leavesTemporaries) ||
      isStagedPath(path) ||
      path.startsWith(UNIT_DIRECTORY) ||
      path.startsWith(`${STATE}/guard`),
  );
  return left === undefined ? undefined : `${left} was left behind`;
};

const INVARIANTS: Readonly<Record<string, Invariant>> = {
  assignedOrKnownGoodRuns,
  noHalfWrittenFileIsEverRead,
  nothingCrashLoops,
  localConfigIsNeverLost,
  nothingIsLeftBehind,
};

/** Every invariant that does not hold, each by its name and in words. */
export function brokenInvariants(node: WholeNode, expected: Expectation): readonly string[] {
  return Object.entries(INVARIANTS).flatMap(([name, invariant]) => {
    const wrong = invariant(node, expected);
    return wrong === undefined ? [] : [`${name}: ${wrong}`];
  });
}
