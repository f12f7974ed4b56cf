import {
  type Aftermath,
  type Blow,
  blowsAt,
  type CleanRun,
  describeBlow,
  LONG_MS,
  type Moment,
  needsSpace,
  recover,
  runClean,
  runFull,
  runGuarded,
} from './fault-injection.ts';
import { podsBefore, type Transition } from './transitions.ts';

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
  const clean = await runClean(transition);
  const endsOn = [transition.endsOn];
  const isGuarded = transition.options.guard === true;
  // Who is silent for so long may find a good config taken back.
  const away: Aftermath = { awayMs: LONG_MS, endsOn: [...endsOn, podsBefore(transition)], moreStarts: 4 };
  switch (mode) {
    case 'the agent is killed':
      return strike(clean, { awayMs: 0, endsOn, moreStarts: 1 }, ({ reboot }) => !reboot);
    case 'the power is lost, whatever of the disk arrived': {
      const moreStarts = transition.theirs === undefined ? 1 : 2;
      return strike(clean, { awayMs: AFTER_BOOT_MS, endsOn, moreStarts }, ({ reboot }) => reboot);
    }
    case 'the agent stays away after that':
      return isGuarded ? strike(clean, away, () => true) : NOTHING;
    case 'the power is lost while the guard takes the trial back, and the agent stays away': {
      const guarded = isGuarded ? await runGuarded(clean) : null;
      return guarded === null ? NOTHING : strike(guarded, away, ({ reboot }) => reboot);
    }
    case 'the disk is full, for one call or from then on':
      return fill(clean);
  }
}

const NOTHING: Tally = { points: 0, strikes: 0, runs: 0, failures: [] };

async function strike(clean: CleanRun, after: Aftermath, which: (blow: Blow) => boolean): Promise<Tally> {
  const run = new Set<string>();
  const failures = createFailures();
  let strikes = 0;
  for (const [index, moment] of clean.moments.entries()) {
    for (const blow of blowsAt(clean.moments, index).filter(which)) {
      strikes += 1;
      const key = describeBlow(blow);
      if (run.has(key)) continue;
      run.add(key);
      await failures.of(`${blow.what} ${nameOf(moment, index)}`, recover(clean, blow, after));
    }
  }
  return { points: clean.moments.length - 1, strikes, runs: run.size, failures: failures.all() };
}

async function fill(clean: CleanRun): Promise<Tally> {
  const failures = createFailures();
  let runs = 0;
  for (const [index, moment] of clean.moments.entries()) {
    if (moment.point === null || !isOfDisk(moment.point.call)) continue;
    for (const until of needsSpace(moment.point) ? (['once', 'on'] as const) : (['once'] as const)) {
      runs += 1;
      await failures.of(`disk full ${until} ${nameOf(moment, index)}`, runFull(clean, index, until));
    }
  }
  return { points: clean.moments.length - 1, strikes: runs, runs, failures: failures.all() };
}

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
