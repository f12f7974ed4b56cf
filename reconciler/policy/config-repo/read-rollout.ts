import type { Amount, CanarySpec, RolloutSpec, RolloutStep } from '#shared/contract/api/kubelet-pool.ts';
import { DEFAULT_MAX_ON_TRIAL, DEFAULT_PROBATION, FULL_PROBATION } from '#shared/contract/api/probation.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { readAnalysis } from './read-analysis.ts';
import { readAmount, readDuration, readFlag, readList, readTextField, readWord } from './read-scalars.ts';
import { readNarrowSelector } from './read-selector.ts';
import { readWindows } from './read-windows.ts';
import { type FileReport, readMap } from './file-report.ts';

const KEYS = [
  'maxUnavailable',
  'maxUnavailablePerZone',
  'maxOnTrial',
  'probation',
  'notReadyNodes',
  'soak',
  'canary',
  'analysis',
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
  const { maxUnavailablePerZone: perZone, notReadyNodes, probation } = rollout;
  const canary = readCanary(rollout.canary, at('canary'), report);
  const analysis = readAnalysis(rollout.analysis, at('analysis'), report);
  if (analysis !== undefined && canary === undefined) {
    report.error(
      'missing-field',
      at('analysis'),
      'analysis compares canaries, and there are none',
      'add canary: {nodes: 1}',
    );
  }
  const steps = readSteps(rollout.steps, at('steps'), canary?.nodes, report);
  const windows = readWindows(rollout.windows, at('windows'), report);
  const emergency = readTextField(rollout.emergency, at('emergency'), { longest: LONGEST_REASON }, report);
  const maxUnavailable = readAmount(rollout.maxUnavailable, at('maxUnavailable'), { min: 0, default: 1 }, report);
  const onTrial = readOnTrial(rollout, path, report);
  const isBounded = probation !== FULL_PROBATION && (onTrial.maxOnTrial ?? '100%') !== '100%';
  if (maxUnavailable === '100%' && canary === undefined && steps === undefined && !isBounded) {
    report.doubt(
      at('maxUnavailable'),
      probation === FULL_PROBATION
        ? 'every node of the pool changes at once, and none tries the config before the others'
        : 'as many nodes change at once as have proven the config, however many those are',
      'add canary: {nodes: 1}, or a smaller maxUnavailable',
    );
  }
  return {
    maxUnavailable,
    ...(perZone === undefined
      ? {}
      : { maxUnavailablePerZone: readAmount(perZone, at('maxUnavailablePerZone'), { min: 0, default: 1 }, report) }),
    ...onTrial,
    ...(notReadyNodes === undefined
      ? {}
      : { notReadyNodes: readWord(notReadyNodes, at('notReadyNodes'), ['wait', 'change'], report) }),
    soak: readDuration(rollout.soak, at('soak'), { zero: 'allowed', default: '0s' }, report),
    ...(canary === undefined ? {} : { canary }),
    ...(analysis === undefined ? {} : { analysis }),
    ...(steps === undefined ? {} : { steps }),
    ...(windows === undefined ? {} : { windows }),
    ...(emergency === undefined ? {} : { emergency }),
    onFailure: {
      threshold: readAmount(onFailure.threshold, failure('threshold'), { min: 1, default: 1 }, report),
      action: readWord(onFailure.action, failure('action'), ['halt', 'revert'], report),
    },
  };
}

/** What bounds how many nodes try the config, and for how long each of them is waited for. */
function readOnTrial(
  { maxOnTrial, probation }: { readonly maxOnTrial?: unknown; readonly probation?: unknown },
  path: Path,
  report: FileReport,
): Pick<RolloutSpec, 'maxOnTrial' | 'probation'> {
  const [most, span] = [
    [...path, 'maxOnTrial'],
    [...path, 'probation'],
  ];
  if (maxOnTrial !== undefined && probation === FULL_PROBATION) {
    report.doubt(
      most,
      'maxOnTrial bounds nothing with probation: full, where maxUnavailable bounds who is on trial',
      'leave out one of the two',
    );
  }
  const rule = { zero: 'refused', default: DEFAULT_PROBATION } as const;
  return {
    ...(maxOnTrial === undefined
      ? {}
      : { maxOnTrial: readAmount(maxOnTrial, most, { min: 1, default: DEFAULT_MAX_ON_TRIAL }, report) }),
    ...(probation === undefined
      ? {}
      : { probation: probation === FULL_PROBATION ? FULL_PROBATION : readDuration(probation, span, rule, report) }),
  };
}

function readCanary(value: unknown, path: Path, report: FileReport): CanarySpec | undefined {
  const canary = readMap(value, path, ['nodes', 'perClass', 'selector', 'soak'], report);
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
  const perClass = readFlag(canary.perClass, [...path, 'perClass'], report);
  if (perClass === true && selector !== undefined) {
    report.error(
      'conflict',
      path,
      'canary names its nodes, and perClass counts nodes',
      'write nodes: 1 instead of the selector',
    );
  }
  return {
    ...(nodes === undefined ? {} : { nodes: readAmount(nodes, [...path, 'nodes'], { min: 1, default: 1 }, report) }),
    ...(perClass === undefined ? {} : { perClass }),
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
  const steps = readList(value, path, report).flatMap(([item, at]): readonly (readonly [RolloutStep, Path])[] => {
    const step = readMap(item, at, ['nodes', 'soak'], report);
    if (step?.nodes === undefined) {
      report.error('missing-field', at, 'a step does not say how many nodes', 'write {nodes: "25%", soak: 30m}');
      return [];
    }
    const soak = readSoak(step.soak, at, report);
    const found = report.findings.length;
    const nodes = readAmount(step.nodes, [...at, 'nodes'], { min: 1, default: 1 }, report);
    // What is no amount comes neither too early nor too late.
    return report.findings.length > found ? [] : [[{ nodes, ...soak }, at]];
  });
  checkAscending(steps, canary, report);
  return steps.map(([step]) => step);
}

/** A count and a percentage cannot be compared without a pool's size; the planner takes the larger of what came before. */
function checkAscending(
  steps: readonly (readonly [RolloutStep, Path])[],
  canary: Amount | undefined,
  report: FileReport,
): void {
  const last = new Map<string, number>();
  if (canary !== undefined) last.set(typeof canary, sizeOf(canary) - 1);
  for (const [index, [{ nodes }, at]] of steps.entries()) {
    const before = last.get(typeof nodes);
    last.set(typeof nodes, sizeOf(nodes));
    if (before === undefined || sizeOf(nodes) > before) continue;
    const than = index === 0 ? 'the canaries are more' : 'each has to be more than the one before';
    const message = `steps are counted with all that were changed already: ${nodes} comes too late, ${than}`;
    report.error('out-of-range', [...at, 'nodes'], message, 'write them in ascending order');
  }
}

const sizeOf = (amount: Amount): number => (typeof amount === 'number' ? amount : Number.parseInt(amount, 10));

function readSoak(value: unknown, path: Path, report: FileReport): { readonly soak?: string } {
  if (value === undefined) return {};
  return { soak: readDuration(value, [...path, 'soak'], { zero: 'allowed', default: '0s' }, report) };
}
