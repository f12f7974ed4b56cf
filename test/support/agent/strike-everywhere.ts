import {
  type Aftermath,
  type Blow,
  type CleanRun,
  deathsAt,
  describeBlow,
  LONG_MS,
  type Moment,
  needsSpace,
  outagesAt,
  recover,
  runClean,
  runFull,
  runGuarded,
} from './fault-injection.ts';
import { sampleOf } from '../sample.ts';
import { podsBefore, type Transition, TRANSITIONS } from './transitions.ts';

/** How things go wrong, in the words of a sentence about the node. */
export const MODES = [
  'the agent is killed',
  'the power is lost, whatever of the disk arrived',
  'the agent stays away after that',
  'the power is lost while the guard takes the trial back, and the agent stays away',
  'the disk is full, for one call or from then on',
] as const;
export type Mode = (typeof MODES)[number];

/** To be struck at all of its points; `transition` by its name. */
export interface StrikeTask {
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

/** An agent runs in a pod: the kubelet that starts it is there before. */
const AFTER_BOOT_MS = 10_000;

export async function strikeEverywhere(transition: Transition, mode: Mode): Promise<Tally> {
  const clean = await cleanRunOf(transition);
  const endsOn = [transition.endsOn];
  const isGuarded = transition.options.guard === true;
  // Who is silent for so long may find a good config taken back.
  const away: Aftermath = { awayMs: LONG_MS, endsOn: [...endsOn, podsBefore(transition)], moreStarts: 4 };
  switch (mode) {
    case 'the agent is killed':
      return strike(clean, { awayMs: 0, endsOn, moreStarts: 1 }, [deathsAt]);
    case 'the power is lost, whatever of the disk arrived': {
      const moreStarts = transition.theirs === undefined ? 1 : 2;
      return strike(clean, { awayMs: AFTER_BOOT_MS, endsOn, moreStarts }, [outagesAt]);
    }
    case 'the agent stays away after that':
      return isGuarded ? strike(clean, away, [deathsAt, outagesAt]) : NOTHING;
    case 'the power is lost while the guard takes the trial back, and the agent stays away': {
      const guarded = isGuarded ? await runGuarded(clean) : null;
      return guarded === null ? NOTHING : strike(guarded, away, [outagesAt]);
    }
    case 'the disk is full, for one call or from then on':
      return fill(clean);
  }
}

const NOTHING: Tally = { points: 0, strikes: 0, runs: 0, failures: [] };

/** The same for every mode. */
const cleanRuns = new Map<Transition, Promise<CleanRun>>();

function cleanRunOf(transition: Transition): Promise<CleanRun> {
  const run = cleanRuns.get(transition) ?? runClean(transition);
  cleanRuns.set(transition, run);
  return run;
}

type BlowsAt = (moments: readonly Moment[], index: number) => readonly Blow[];

async function strike(clean: CleanRun, after: Aftermath, blowsOf: readonly BlowsAt[]): Promise<Tally> {
  const run = new Set<string>();
  const failures = createFailures();
  const chosen = pointsOf(clean);
  let strikes = 0;
  for (const { moment, index } of chosen) {
    for (const blow of blowsOf.flatMap((blowsAt) => sampleOfBlows(blowsAt(clean.moments, index), index))) {
      strikes += 1;
      const key = describeBlow(blow);
      if (run.has(key)) continue;
      run.add(key);
      await failures.of(`${blow.what} ${nameOf(moment, index)}`, recover(clean, blow, after));
    }
  }
  return { points: countOf(chosen), strikes, runs: run.size, failures: failures.all() };
}

async function fill(clean: CleanRun): Promise<Tally> {
  const failures = createFailures();
  const chosen = pointsOf(clean);
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

/** Each of these primes is no multiple of the calls that write one file, so that a sample meets all of them. */
const ONE_POINT_IN = 11;
/** What a disk may hold after one point is much alike. */
const BLOWS_AT_ONE = 1;

interface Chosen {
  readonly moment: Moment;
  readonly index: number;
}

/** Another sample of each transition: they have most of their calls in common. */
function pointsOf({ moments, transition }: CleanRun): readonly Chosen[] {
  const from = TRANSITIONS.indexOf(transition);
  return sampleOf(
    moments.map((moment, index) => ({ moment, index })),
    ONE_POINT_IN,
    from,
  );
}

const sampleOfBlows = (blows: readonly Blow[], index: number): readonly Blow[] =>
  sampleOf(blows, Math.ceil(blows.length / BLOWS_AT_ONE), index);

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
