import type { Amount, KubeletPoolSpec, LabelSelector, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { FULL_PROBATION } from '#shared/contract/api/probation.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import type { FileReport } from './file-report.ts';
import type { ReadFile } from './read-by-schema.ts';

type IsRight = ReadFile<unknown>['isRight'];

const ROLLOUT: Path = ['spec', 'rollout'];

/** What a schema cannot say: what depends on something elsewhere in the file. Nothing is said of what depends on something wrong. */
export function checkPool(spec: KubeletPoolSpec, isRight: IsRight, report: FileReport): void {
  const { nodeSelector, rollout, blockers } = spec;
  checkSelector(nodeSelector, ['spec', 'nodeSelector'], isRight, report);
  checkSelector(rollout.canary?.selector, [...ROLLOUT, 'canary', 'selector'], isRight, report);
  checkSelector(blockers?.pods?.selector, ['spec', 'blockers', 'pods', 'selector'], isRight, report);
  checkAnalysis(rollout, isRight, report);
  if (isRight([...ROLLOUT, 'steps'], [...ROLLOUT, 'canary'])) {
    checkAscending(rollout, report);
    checkPauses(rollout, report);
  }
  doubtRollout(rollout, report);
  if (isRight([...ROLLOUT, 'probation'], ['spec', 'trial'])) doubtShorterTrials(spec, report);
}

function checkSelector(selector: LabelSelector | undefined, path: Path, isRight: IsRight, report: FileReport): void {
  const list = [...path, 'matchExpressions'];
  if (!isRight(list)) return;
  for (const [index, { operator, values = [] }] of (selector?.matchExpressions ?? []).entries()) {
    const needsValues = operator === 'In' || operator === 'NotIn';
    if (needsValues === values.length > 0) continue;
    const message = needsValues ? `${operator} needs at least one value` : `${operator} takes no values`;
    report.error('missing-field', [...list, index, 'values'], message);
  }
}

/** A fall by more than all of it never comes. */
const MOST_FALL = 99;

function checkAnalysis({ canary, analysis }: RolloutSpec, isRight: IsRight, report: FileReport): void {
  const path = [...ROLLOUT, 'analysis'];
  if (analysis === undefined) return;
  if (canary === undefined && isRight([...ROLLOUT, 'canary'])) {
    const message = 'analysis compares canaries, and there are none';
    report.error('missing-field', path, message, 'add canary: {nodes: 1}');
  }
  const list = [...path, 'prometheus', 'queries'];
  if (!isRight(list)) return;
  const names = new Set<string>();
  for (const [index, query] of (analysis.prometheus?.queries ?? []).entries()) {
    const at = [...list, index];
    if (names.has(query.name))
      report.error('duplicate-item', [...at, 'name'], `${query.name} is the name of another query already`);
    names.add(query.name);
    if (!('worse' in query) || query.worse !== 'down' || (query.percent ?? 0) <= MOST_FALL) continue;
    const message = `spec.rollout.analysis.prometheus.queries[${index}].percent is ${query.percent} and has to be a whole number from 0 to ${MOST_FALL}`;
    report.error('out-of-range', [...at, 'percent'], message);
  }
}

/** A count and a percentage cannot be compared without a pool's size; the planner sorts them by that. */
function checkAscending({ steps = [], canary }: RolloutSpec, report: FileReport): void {
  const last = new Map<string, number>();
  if (canary?.nodes !== undefined) last.set(typeof canary.nodes, sizeOf(canary.nodes) - 1);
  for (const [index, { nodes }] of steps.entries()) {
    const before = last.get(typeof nodes);
    last.set(typeof nodes, sizeOf(nodes));
    if (before === undefined || sizeOf(nodes) > before) continue;
    const than = index === 0 ? 'the canaries are more' : 'each has to be more than the one before';
    const message = `steps are counted with all that were changed already: ${nodes} comes too late, ${than}`;
    report.error('out-of-range', [...ROLLOUT, 'steps', index, 'nodes'], message, 'write them in ascending order');
  }
}

/** After all nodes nobody is left to wait: whoever counts on being asked would not be. */
function checkPauses({ steps = [], canary }: RolloutSpec, report: FileReport): void {
  const waves = [
    { ...canary, path: [...ROLLOUT, 'canary'] },
    ...steps.map((step, index) => ({ ...step, path: [...ROLLOUT, 'steps', index] })),
  ];
  for (const { nodes, pause, path } of waves) {
    if (pause !== true || nodes !== '100%') continue;
    const message = 'nobody is asked after a wave of all nodes: none is left that could wait';
    report.error('conflict', [...path, 'pause'], message, 'leave out the pause, or make the wave smaller');
  }
}

const sizeOf = (amount: Amount): number => (typeof amount === 'number' ? amount : Number.parseInt(amount, 10));

/** Bounds that bound nothing. */
function doubtRollout({ maxUnavailable, maxOnTrial, probation, canary, steps }: RolloutSpec, report: FileReport): void {
  const isFull = probation === FULL_PROBATION;
  if (maxOnTrial !== undefined && isFull) {
    report.doubt(
      [...ROLLOUT, 'maxOnTrial'],
      'maxOnTrial bounds nothing with probation: full, where maxUnavailable bounds who is on trial',
      'leave out one of the two',
    );
  }
  const isBounded = !isFull && (maxOnTrial ?? '100%') !== '100%';
  if (maxUnavailable !== '100%' || canary !== undefined || steps !== undefined || isBounded) return;
  report.doubt(
    [...ROLLOUT, 'maxUnavailable'],
    isFull
      ? 'every node of the pool changes at once, and none tries the config before the others'
      : 'as many nodes change at once as have proven the config, however many those are',
    'add canary: {nodes: 1}, or a smaller maxUnavailable',
  );
}

/** A trial after the canaries that is as long as theirs all the same. */
function doubtShorterTrials(
  { rollout: { probation }, trial: { duration, durationAfterCanary: after } }: KubeletPoolSpec,
  report: FileReport,
): void {
  const path = ['spec', 'trial', 'durationAfterCanary'];
  if (after === undefined) return;
  if (probation === FULL_PROBATION) {
    const message = 'durationAfterCanary shortens nothing with probation: full, where all trials take trial.duration';
    report.doubt(path, message, 'leave out one of the two');
  } else if ((parseDuration(after) ?? 0) > (parseDuration(duration) ?? 0)) {
    const message = `durationAfterCanary is ${after}, and no trial is longer than trial.duration, which is ${duration}`;
    report.doubt(path, message, 'make it shorter, or trial.duration longer');
  }
}
