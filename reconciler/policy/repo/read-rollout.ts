import type { Amount, CanarySpec, RolloutSpec, RolloutStep } from '#shared/contract/api/kubelet-pool.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { readAmount, readDuration, readList, readTextField, readWord } from './read-scalars.ts';
import { readNarrowSelector } from './read-selector.ts';
import { readWindows } from './read-windows.ts';
import { type FileReport, readMap } from './report.ts';

const KEYS = [
  'maxUnavailable',
  'maxUnavailablePerZone',
  'notReadyNodes',
  'soak',
  'canary',
  'steps',
  'windows',
  'emergency',
  'onFailure',
] as const;

/** Ends up in the history of the repository, as one line. */
const LONGEST_REASON = 500;

/**
 * How a config spreads. What is not written is not in the spec, besides the budget, the soak and what happens on failures:
 * a release that knows more keys writes no pool again.
 */
export function readRollout(value: unknown, path: Path, report: FileReport): RolloutSpec {
  const rollout = readMap(value, path, KEYS, report) ?? {};
  const onFailure = readMap(rollout.onFailure, [...path, 'onFailure'], ['threshold', 'action'], report) ?? {};
  const at = (key: string): Path => [...path, key];
  const failure = (key: string): Path => [...path, 'onFailure', key];
  const { maxUnavailablePerZone: perZone, notReadyNodes } = rollout;
  const canary = readCanary(rollout.canary, at('canary'), report);
  const steps = readSteps(rollout.steps, at('steps'), canary?.nodes, report);
  const windows = readWindows(rollout.windows, at('windows'), report);
  const emergency = readTextField(rollout.emergency, at('emergency'), { longest: LONGEST_REASON }, report);
  const maxUnavailable = readAmount(rollout.maxUnavailable, at('maxUnavailable'), { min: 0, default: 1 }, report);
  if (maxUnavailable === '100%' && canary === undefined && steps === undefined) {
    report.doubt(
      at('maxUnavailable'),
      'every node of the pool changes at once, and none tries the config before the others',
      'add canary: {nodes: 1}, or a smaller maxUnavailable',
    );
  }
  return {
    maxUnavailable,
    ...(perZone === undefined
      ? {}
      : { maxUnavailablePerZone: readAmount(perZone, at('maxUnavailablePerZone'), { min: 0, default: 1 }, report) }),
    ...(notReadyNodes === undefined
      ? {}
      : { notReadyNodes: readWord(notReadyNodes, at('notReadyNodes'), ['wait', 'change'], report) }),
    soak: readDuration(rollout.soak, at('soak'), { zero: 'allowed', default: '0s' }, report),
    ...(canary === undefined ? {} : { canary }),
    ...(steps === undefined ? {} : { steps }),
    ...(windows === undefined ? {} : { windows }),
    ...(emergency === undefined ? {} : { emergency }),
    onFailure: {
      threshold: readAmount(onFailure.threshold, failure('threshold'), { min: 1, default: 1 }, report),
      action: readWord(onFailure.action, failure('action'), ['halt', 'revert'], report),
    },
  };
}

function readCanary(value: unknown, path: Path, report: FileReport): CanarySpec | undefined {
  const canary = readMap(value, path, ['nodes', 'selector', 'soak'], report);
  if (canary === undefined) return undefined;
  const { nodes, selector } = canary;
  if (nodes === undefined && selector === undefined) {
    report.error(
      'missing-field',
      path,
      'canary says neither how many nodes nor which',
      'write nodes: 1, or a selector',
    );
  }
  if (nodes !== undefined && selector !== undefined) {
    report.error('conflict', path, 'canary says both how many nodes and which', 'keep nodes or selector');
  }
  return {
    ...(nodes === undefined ? {} : { nodes: readAmount(nodes, [...path, 'nodes'], { min: 1, default: 1 }, report) }),
    ...(selector === undefined ? {} : { selector: readNarrowSelector(selector, [...path, 'selector'], report) }),
    ...readSoak(canary.soak, path, report),
  };
}

function readSteps(
  value: unknown,
  path: Path,
  canary: Amount | undefined,
  report: FileReport,
): readonly RolloutStep[] | undefined {
  if (value === undefined) return undefined;
  const steps = readList(value, path, report).flatMap(([item, at]): readonly RolloutStep[] => {
    const step = readMap(item, at, ['nodes', 'soak'], report);
    if (step?.nodes === undefined) {
      report.error('missing-field', at, 'a step does not say how many nodes', 'write {nodes: "25%", soak: 30m}');
      return [];
    }
    const nodes = readAmount(step.nodes, [...at, 'nodes'], { min: 1, default: 1 }, report);
    return [{ nodes, ...readSoak(step.soak, at, report) }];
  });
  checkAscending(steps, path, canary, report);
  return steps;
}

/** A count and a percentage cannot be compared without a pool's size; the planner takes the larger of what came before. */
function checkAscending(
  steps: readonly RolloutStep[],
  path: Path,
  canary: Amount | undefined,
  report: FileReport,
): void {
  const last = new Map<string, number>();
  if (canary !== undefined) last.set(typeof canary, sizeOf(canary) - 1);
  for (const [index, { nodes }] of steps.entries()) {
    const before = last.get(typeof nodes);
    last.set(typeof nodes, sizeOf(nodes));
    if (before === undefined || sizeOf(nodes) > before) continue;
    const than = index === 0 ? 'the canaries are more' : 'each has to be more than the one before';
    const message = `steps are counted with all that were changed already: ${nodes} comes too late, ${than}`;
    report.error('out-of-range', [...path, index, 'nodes'], message, 'write them in ascending order');
  }
}

const sizeOf = (amount: Amount): number => (typeof amount === 'number' ? amount : Number.parseInt(amount, 10));

function readSoak(value: unknown, path: Path, report: FileReport): { readonly soak?: string } {
  if (value === undefined) return {};
  return { soak: readDuration(value, [...path, 'soak'], { zero: 'allowed', default: '0s' }, report) };
}
