import { parseDuration } from '#shared/runtime/duration.ts';
import { fromTimestamp, systemClock } from '#shared/runtime/clock.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { PLAN } from '../plan/command.ts';
import { makePlan } from '../plan/make-plan.ts';
import { loadRevisions, nodesOf } from '../plan/load-revisions.ts';
import { wrapFor } from '../wrap.ts';
import { seededRandom } from '../seeded-random.ts';
import { simulationAsSvg } from './render-svg.ts';
import { simulationAsText, whatIfAsText } from './render-text.ts';
import { type Simulation, simulate } from './simulate.ts';
import { lanesOf } from './pool-timelines.ts';
import { timesWith, type TookWith, type WhatIf, whatIf } from './what-if.ts';

const FORMATS = ['text', 'svg', 'json'] as const;
const { base, head, repo, path, cluster, inventory, kubeconfig, context } = PLAN.options;

export const SIMULATE: Command = {
  name: 'simulate',
  summary: 'simulates the rollout of a change over your nodes, with failures, before it is merged',
  mostWords: 0,
  about: [
    "The reconciler's own planner decides, wave by wave; nodes answer after the time of a restart and of their trial,\n" +
      'and as many of them fail as --failure-rate says. Blockers are taken to be quiet. Changes nothing.',
  ],
  options: {
    ...(base && { base }),
    ...(head && { head }),
    ...(repo && { repo }),
    ...(path && { path }),
    ...(cluster && { cluster }),
    ...(inventory && { inventory }),
    ...(kubeconfig && { kubeconfig }),
    ...(context && { context }),
    'failure-rate': { type: 'string', value: '5%', about: 'how many trials fail (default 0%)' },
    restart: { type: 'string', value: '10s', about: 'from an assignment to a kubelet that is up (default 10s)' },
    at: { type: 'string', value: 'TIME', about: 'when it is merged, such as 2026-11-21T09:00:00Z (default now)' },
    'approve-after': {
      type: 'string',
      value: '8h',
      about: 'how long a person takes where a pool waits for an approval, or never (default 0s)',
    },
    horizon: { type: 'string', value: '168h', about: 'how far ahead to look at most (default 168h)' },
    seed: { type: 'string', value: 'N', about: 'which nodes fail; the same number gives the same ones (default 1)' },
    'what-if': {
      type: 'boolean',
      about: 'add how far configs that kill kubelets would get, and the time with other restarts',
    },
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people, as a picture, or for programs' },
  },
  examples: [
    'kubelet-gitops simulate --base origin/main --head HEAD --inventory nodes.json',
    'kubelet-gitops simulate --inventory nodes.json --failure-rate 5% -o svg >rollout.svg',
  ],
  run: runSimulate,
};

async function runSimulate(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const failureRate = share(given.text('failure-rate') ?? '0%');
  const restartMs = duration(given, 'restart', '10s');
  const horizonMs = duration(given, 'horizon', '168h');
  const start = moment(given.text('at'));
  const revisions = await loadRevisions(given, io);
  const nodes = await nodesOf(given, io);
  if (nodes === undefined) throw new UsageError('no nodes are given: use --inventory FILE or --context NAME');
  const question = {
    base: revisions.base.repo,
    head: revisions.head.repo,
    nodes,
    manners: {
      failureRate,
      restartMs,
      approvesAfterMs: patience(given.text('approve-after') ?? '0s'),
      random: seededRandom(Number(given.text('seed') ?? 1)),
    },
    start,
    horizonMs,
  };
  const simulation = simulate(question);
  const { refusal } = makePlan({ ...revisions, nodes, inForce: undefined });
  const more = given.flag('what-if') ? { whatIf: whatIf(question), spread: timesWith(question) } : undefined;
  io.out.write(render({ simulation, refusal, more }, format, io));
  if (refusal !== undefined && format === 'svg') io.err.write(`${refusedAs(refusal)}\n`);
  const { events, invalidPools } = simulation;
  return events.length + invalidPools.length === 0 && lanesOf(simulation).length === 0 ? 0 : 1;
}

/** The planner itself would never hear of such a commit. */
const refusedAs = (refusal: string): string =>
  `Refused as a whole: ${refusal}. What follows is what would come of it then`;

interface Found {
  readonly simulation: Simulation;
  readonly refusal: string | undefined;
  readonly more: { readonly whatIf: readonly WhatIf[]; readonly spread: readonly TookWith[] } | undefined;
}

function render({ simulation, refusal, more }: Found, format: (typeof FORMATS)[number], io: Io): string {
  const { start, end, invalidPools } = simulation;
  const paint = paintFor(io.out, io.env);
  const first = refusal === undefined ? '' : `${paint('bad', refusedAs(refusal))}\n\n`;
  switch (format) {
    case 'text':
      return wrapFor(io.out)(
        `${first}${simulationAsText(simulation, paint)}${more === undefined ? '' : whatIfAsText(more, paint)}`,
      );
    case 'svg':
      return simulationAsSvg(simulation);
    case 'json':
      return `${JSON.stringify({ start, end, refusal, lanes: lanesOf(simulation), invalidPools, ...more }, null, 2)}\n`;
  }
}

function share(written: string): number {
  const percent = /^(\d{1,3}(?:\.\d+)?)%$/.exec(written)?.[1];
  if (percent === undefined || Number(percent) > 100)
    throw new UsageError(`--failure-rate ${written}: write 0% to 100%`);
  return Number(percent) / 100;
}

function duration(given: Given, option: string, otherwise: string): number {
  const written = given.text(option) ?? otherwise;
  const span = parseDuration(written);
  if (span === undefined || span === 0) throw new UsageError(`--${option} ${written}: write it as 90s, 10m or 1h30m`);
  return span;
}

function patience(written: string): number {
  const span = written === 'never' ? Infinity : parseDuration(written);
  if (span === undefined) throw new UsageError(`--approve-after ${written}: write it as 0s, 10m or 1h30m, or never`);
  return span;
}

function moment(written: string | undefined): number {
  if (written === undefined) return systemClock.now();
  const at = fromTimestamp(written);
  if (at === undefined) throw new UsageError(`--at ${written}: write it as 2026-11-21T09:00:00Z`);
  return at;
}
