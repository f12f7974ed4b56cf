import {
  type Aftermath,
  type InjectedFailure,
  type CleanRun,
  cutsAt,
  deathsAt,
  describeFailure,
  LONG_MS,
  type Moment,
  needsSpace,
  outagesAt,
  recover,
  runClean,
  runFull,
  runGuarded,
} from './fault-injection.ts';
import { EVERY_POINT, sampleOf } from '../sample.ts';
import { type Transition, TRANSITIONS } from './transitions.ts';

/** How things go wrong, in the words of a sentence about the node. */
export const MODES = [
  'the agent is killed',
  'the power is lost, whatever of the disk arrived',
  'the agent stays away after that',
  'the power is lost while the guard takes the trial back, and the agent stays away',
  'the disk is full, for one call or from then on',
  'the power is lost soon after each boot from then on, with all that was not synced',
] as const;
export type Mode = (typeof MODES)[number];

/** To be struck at all of its points; `transition` by its name. */
export interface FaultTask {
  readonly transition: string;
  readonly mode: Mode;
}

/** What came of striking at every point of a transition in one way. */
export interface Tally {
  readonly points: number;
  readonly strikes: number;
  /** Runs that were made: strikes that leave the very same behind count once. */
  readonly runs: number;
  /** Each thing that went wrong once, with where it did first and how often. */
  readonly failures: readonly string[];
}

/** So that the guard takes back what was armed, whether or not the boot that it was armed in counts. */
const CUTS = 2;

/** An agent runs in a pod: the kubelet that starts it is there before. */
const AFTER_BOOT_MS = 10_000;

export async function faultEveryPoint(transition: Transition, mode: Mode): Promise<Tally> {
  const clean = await cleanRunOf(transition);
  const chosen = await pointsOf(transition, mode, mode === MODES[3] ? guardedRunOf : cleanRunOf);
  const endsOn = [transition.endsOn];
  const isGuarded = transition.options.guard === true;
  // Who is silent for so long finds a good config taken back, and tries it again: nobody watched.
  const away: Aftermath = { awayMs: LONG_MS, endsOn, moreStarts: 4 };
  switch (mode) {
    case 'the agent is killed':
      return strike(clean, { awayMs: 0, endsOn, moreStarts: 1 }, [deathsAt], chosen);
    case 'the power is lost, whatever of the disk arrived': {
      const moreStarts = transition.theirs === undefined ? 1 : 2;
      return strike(clean, { awayMs: AFTER_BOOT_MS, endsOn, moreStarts }, [outagesAt], chosen);
    }
    case 'the agent stays away after that':
      return isGuarded ? strike(clean, away, [deathsAt, outagesAt], chosen) : NOTHING;
    case 'the power is lost while the guard takes the trial back, and the agent stays away': {
      const guarded = await guardedRunOf(transition);
      return guarded === null ? NOTHING : strike(guarded, away, [outagesAt], chosen);
    }
    case 'the disk is full, for one call or from then on':
      return fill(clean, chosen);
    case 'the power is lost soon after each boot from then on, with all that was not synced': {
      const after: Aftermath = { awayMs: AFTER_BOOT_MS, endsOn, moreStarts: 2, cuts: CUTS };
      return isGuarded ? strike(clean, after, [cutsAt], chosen) : NOTHING;
    }
  }
}

const NOTHING: Tally = { points: 0, strikes: 0, runs: 0, failures: [] };

/** Once for each transition: every mode strikes the same run. */
function once<Run>(make: (transition: Transition) => Promise<Run>): (transition: Transition) => Promise<Run> {
  const made = new Map<Transition, Promise<Run>>();
  return (transition) => {
    const run = made.get(transition) ?? make(transition);
    made.set(transition, run);
    return run;
  };
}

const cleanRunOf = once(runClean);

/** The guard's own run; null where there is no guard, or nothing for it to take back. */
const guardedRunOf = once(async (transition): Promise<CleanRun | null> =>
  transition.options.guard === true ? runGuarded(await cleanRunOf(transition)) : null,
);

type BlowsAt = (moments: readonly Moment[], index: number) => readonly InjectedFailure[];

async function strike(
  clean: CleanRun,
  after: Aftermath,
  blowsOf: readonly BlowsAt[],
  chosen: readonly Chosen[],
): Promise<Tally> {
  const run = new Set<string>();
  const failures = createFailures();
  let strikes = 0;
  for (const { moment, index } of chosen) {
    const ways = sampleOf(blowsOf, blowsOf.length, index);
    for (const blow of ways.flatMap((blowsAt) => sampleOfBlows(blowsAt(clean.moments, index), index))) {
      strikes += 1;
      const key = describeFailure(blow);
      if (run.has(key)) continue;
      run.add(key);
      await failures.of(`${blow.what} ${nameOf(moment, index)}`, recover(clean, blow, after));
    }
  }
  return { points: countOf(chosen), strikes, runs: run.size, failures: failures.all() };
}

async function fill(clean: CleanRun, chosen: readonly Chosen[]): Promise<Tally> {
  const failures = createFailures();
  let runs = 0;
  for (const { moment, index } of chosen) {
    if (moment.point === null || !isOfDisk(moment.point.call)) continue;
    for (const until of needsSpace(moment.point) ? (['once', 'on'] as const) : (['once'] as const)) {
      runs += 1;
      await failures.of(`disk full ${until} ${nameOf(moment, index)}`, runFull(clean, index, until));
    }
  }
  return { points: countOf(chosen), strikes: runs, runs, failures: failures.all() };
}

interface Chosen {
  readonly moment: Moment;
  readonly index: number;
}

type RunOf = (transition: Transition) => Promise<CleanRun | null>;

/** The points of a transition that are struck in this mode: all of them, or its part of the sample. */
async function pointsOf(transition: Transition, mode: Mode, runOf: RunOf): Promise<readonly Chosen[]> {
  if (EVERY_POINT) return momentsOf(await runOf(transition));
  const sample = samples.get(mode) ?? sampleFor(mode, runOf);
  samples.set(mode, sample);
  return (await sample).get(transition) ?? [];
}

const samples = new Map<Mode, Promise<ReadonlyMap<Transition, readonly Chosen[]>>>();

/**
 * One point of each kind in all transitions together. Every mode takes it from another transition.
 */
async function sampleFor(mode: Mode, runOf: RunOf): Promise<ReadonlyMap<Transition, readonly Chosen[]>> {
  const points: (Chosen & { readonly of: Transition; readonly kind: string })[] = [];
  for (const of of TRANSITIONS) {
    const run = await runOf(of);
    for (const each of momentsOf(run)) points.push({ ...each, of, kind: kindOf(run?.moments ?? [], each.index, mode) });
  }
  const kinds = [...Map.groupBy(points, ({ kind }) => kind).values()];
  const chosen = kinds.flatMap((same, nth) => sampleOf(same, same.length, nth + MODES.indexOf(mode)));
  return Map.groupBy(chosen, ({ of }) => of);
}

const momentsOf = (run: CleanRun | null): readonly Chosen[] =>
  (run?.moments ?? []).map((moment, index) => ({ moment, index }));

/**
 * What is called, and for which file. What becomes of a temporary file is the same for all files until it is renamed, but not whether
 * there is room for it; and a directory is synced after different things.
 */
function kindOf(moments: readonly Moment[], index: number, mode: Mode): string {
  const point = moments[index]?.point;
  if (point === null || point === undefined) return 'the end';
  const path = point.path.replace(/-tmp-[0-9a-f]{8}$/, TEMPORARY).replace(/general-\w+/, 'CONFIG');
  if (point.call === 'sync-directory') return `${point.call} after ${kindOf(moments, index - 1, mode)}`;
  const isForAnyFile = path.endsWith(TEMPORARY) && !(isFull(mode) && point.call === 'create');
  return isForAnyFile ? `${point.call} ${TEMPORARY}` : `${point.call} ${path}`;
}

const TEMPORARY = '-tmp';
const isFull = (mode: Mode): boolean => mode === MODES[4];

/** What a disk may hold after one point is much alike: one of it, where a sample is enough. */
const sampleOfBlows = (blows: readonly InjectedFailure[], index: number): readonly InjectedFailure[] =>
  sampleOf(blows, blows.length, index);

const countOf = (chosen: readonly Chosen[]): number => chosen.filter(({ moment }) => moment.point !== null).length;

const isOfDisk = (call: string): boolean => !['restart-kubelet', 'reload-units', 'stop-timer'].includes(call);

const nameOf = ({ point }: Moment, index: number): string =>
  point === null ? 'at the end' : `at point ${index}, ${point.call} ${point.path}`;

function createFailures() {
  const found = new Map<string, { readonly first: string; count: number }>();
  return {
    async of(what: string, work: Promise<void>): Promise<void> {
      try {
        await work;
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const kind = message.split('\n')[0] ?? '';
        const known = found.get(kind);
        if (known === undefined) found.set(kind, { first: `${what}: ${message}`, count: 1 });
        else known.count += 1;
      }
    },
    all: () => [...found.values()].map(({ first, count }) => `${count} times, the first ${first}`),
  };
}
