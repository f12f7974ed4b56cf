import { formatDuration } from '#shared/runtime/duration.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { Paint } from '../paint.ts';
import type { Simulation } from './simulate.ts';
import { type Lane, lanesOf } from './pool-timelines.ts';
import type { TookWith, WhatIf } from './what-if.ts';

const BLOCKS = ' ▁▂▃▄▅▆▇█';
const WIDTH = 60;

/** A line of blocks for every pool: how many of its nodes had proven the config by then; below it waves and what stopped it. */
export function simulationAsText(simulation: Simulation, paint: Paint): string {
  const { nodes, invalidPools } = simulation;
  const lanes = lanesOf(simulation);
  const span = simulation.end - simulation.start;
  const count = `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
  const head =
    lanes.length === 0
      ? `nothing changes on ${count}`
      : `${count}: it ends after ${round(span)} (a column is ${span < WIDTH * 1000 ? 'less than 1s' : round(span / WIDTH)})`;
  const broken = invalidPools.map((name) => paint('bad', `${name} has errors: it keeps its current config`));
  const parts = [...lanes.map((lane) => laneLines(lane, span, paint)), ...(broken.length === 0 ? [] : [broken])];
  return `${[head, ...parts.flatMap((lines) => ['', ...lines])].join('\n')}\n`;
}

function laneLines(lane: Lane, span: Millis, paint: Paint): readonly string[] {
  const tone = lane.phase === 'Settled' ? 'good' : lane.phase === 'Halted' ? 'bad' : 'busy';
  const waves = (isLeft(lane) ? [] : lane.waves).map(({ name, nodes, startedAt, doneAt, pausedAt, approvedAt }) => {
    const from = startedAt === undefined ? 'not begun' : `from ${round(startedAt)}`;
    return `  ${name.padEnd(8)} up to ${nodes} ${nodes === 1 ? 'node' : 'nodes'}: ${from}${doneAt === undefined ? '' : ` to ${round(doneAt)}`}${approvalIn(pausedAt, approvedAt)}`;
  });
  return [
    `${paint('strong', lane.pool)}  ${paint(tone, lane.phase)}: ${countsIn(lane)}`,
    `  |${bar(lane, span)}|`,
    ...(lane.failed === 0 ? [] : [`  |${paint('bad', marks(lane, span))}|  failures`]),
    ...waves,
    ...(lane.phase === 'Settled' ? [] : [`  ${lane.message}`]),
  ];
}

/** That it waits for a person then, or from when until when. */
function approvalIn(pausedAt: Millis | undefined, approvedAt: Millis | undefined): string {
  if (pausedAt === undefined) return '';
  return approvedAt === undefined ? ', then it waits for a person' : `, approved at ${round(approvedAt)}`;
}

/** Of a pool that only lost nodes, only that. */
export const countsIn = (lane: Lane): string =>
  [
    ...(isLeft(lane) ? [] : [`${lane.proved} of ${lane.nodes} nodes proved it`]),
    ...(lane.failed === 0 ? [] : [`${lane.failed} failed`]),
    ...(lane.refused === 0 ? [] : [`${lane.refused} refused it`]),
    ...(lane.returned === 0 ? [] : [`${lane.returned} went back to what they ran before`]),
  ].join(', ');

const isLeft = ({ phase, proved, returned }: Lane): boolean => phase === 'Empty' && proved === 0 && returned > 0;

function bar({ curve, nodes }: Lane, span: Millis): string {
  return columns(span)
    .map((until) => {
      const proved = curve.findLast(({ at }) => at <= until)?.proved ?? 0;
      const height = Math.ceil((Math.min(proved, nodes) / Math.max(1, nodes)) * (BLOCKS.length - 1));
      return BLOCKS[height] ?? ' ';
    })
    .join('');
}

function marks({ failures }: Lane, span: Millis): string {
  const width = span / WIDTH;
  return columns(span)
    .map((until) => (failures.some(({ at }) => at <= until && at > until - width) ? 'x' : ' '))
    .join('');
}

const columns = (span: Millis): readonly Millis[] =>
  Array.from({ length: WIDTH }, (_, index) => ((index + 1) * span) / WIDTH);

/** How far configs that kill kubelets would get within the bounds, and how much restarts change the time. */
export function whatIfAsText(
  { whatIf, spread }: { readonly whatIf: readonly WhatIf[]; readonly spread: readonly TookWith[] },
  paint: Paint,
): string {
  const width = Math.max(...whatIf.map(({ fault }) => fault.length));
  const lines = whatIf.map(({ fault, runs, stopped, seen, failed }) => {
    const most = runs === 1 ? '' : 'at most ';
    const reach = `is told to ${most}${seen} ${seen === 1 ? 'node' : 'nodes'} and fails on ${most}${failed}`;
    return `  ${fault.padEnd(width)}  ${reach}${runs === 1 ? '' : `; halted in ${stopped} of ${runs} runs`}`;
  });
  const times = spread.map(({ restartMs, tookMs }) => `${round(tookMs)} with restarts of ${round(restartMs)}`);
  return ['', paint('strong', 'A config that'), ...lines, '', `It takes ${times.join(', ')}.`, ''].join('\n');
}

/** `3h20m`, `12m`, `45s`: what a person wants to know of it. */
function round(span: Millis): string {
  const unit = span >= 3_600_000 ? 60_000 : 1_000;
  return formatDuration(Math.round(span / unit) * unit);
}
