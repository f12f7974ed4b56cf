import { nameOf, sameConfig, type Target } from '#agent/decide/state.ts';
import { AFTER_EVERY_TURN, AT_EVERY_DECISION, AT_REST } from '../invariants.ts';
import { CONFIGS, type Event, happen, type History } from './events.ts';
import type { Fate, Happening } from './host.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { createWorld, type Machine, type Turn, type World } from './world.ts';

export interface ReplayResult {
  readonly turns: number;
  /** What the agent did, in order. */
  readonly story: readonly string[];
  readonly world: World;
}

export interface ReplayOptions {
  readonly machine?: Machine;
  readonly count?: (what: Happening) => void;
  /** Each turn in a line, for whoever has to understand a history. */
  readonly trace?: (line: string) => void;
}

/** Lives a history to its end, and on until it is quiet. @throws Error that begins with the name of the invariant that does not hold */
export function replay(
  history: History,
  { machine, count = () => undefined, trace = () => undefined }: ReplayOptions = {},
): ReplayResult {
  const ledger = createLedger();
  const story: string[] = [];
  const fateOf = (target: Target): Fate => {
    if (target === null) return 'good';
    return history.fates[CONFIGS.findIndex((config) => sameConfig(config, target))] ?? 'good';
  };
  const world = createWorld({
    fateOf,
    isGuarded: history.isGuarded,
    isSupervised: history.isSupervised ?? false,
    startLimit: history.startLimit,
    count,
    ...(machine === undefined ? {} : { machine }),
    onLook: (seen) => ledger.look(seen),
    onTurn(turn, now) {
      ledger.turn(turn, now);
      tell(turn, count, story);
      trace(describeTurn(turn, now));
      for (const [name, holds] of Object.entries(AT_EVERY_DECISION)) claim(name, holds(turn, now, ledger));
    },
    onActed(turn, now) {
      for (const [name, holds] of Object.entries(AFTER_EVERY_TURN)) claim(name, holds(turn, now, ledger));
    },
    onPass: (until, now) => ledger.pass(until, now),
  });
  for (const event of history.events) {
    trace(`-- ${JSON.stringify(event)}`);
    ledger.happened(event, world);
    happen(world, event, history);
  }
  quiet(world, ledger, history);
  return { turns: world.turns(), story, world };
}

function claim(name: string, wrong: string | undefined): void {
  if (wrong !== undefined) throw new Error(`${name}: ${wrong}`);
}

const MINUTE_MS = 60_000;
/** The longest pauses: an hour until drift is repaired again. */
const MOST_MINUTES = 90;
const STILL_MINUTES = 4;

/** Nothing goes wrong any more; and then nothing happens any more. */
function quiet(world: World, ledger: Ledger, history: History): void {
  const calm: readonly Event[] = [
    { event: 'api', fails: false },
    { event: 'disk', room: null },
    { event: 'runtime', fails: false },
    { event: 'no-guard', times: 0 },
    { event: 'no-restart', times: 0 },
    // Whoever stopped the kubelet starts it again. One that is down without that is the agent's business.
    ...(world.kubelet.status().wasStopped === true ? [{ event: 'restart-by-hand' } as const] : []),
  ];
  world.doom(undefined);
  for (const event of calm) {
    ledger.happened(event, world);
    happen(world, event, history);
  }
  if (!world.isAgentAlive()) world.kill(0);
  let wrong: string | undefined;
  let still = 0;
  for (let minute = 0; minute < MOST_MINUTES && still < STILL_MINUTES; minute += 1) {
    const [state, starts] = [world.state(), world.kubelet.starts()];
    ledger.happened({ event: 'grant' }, world);
    world.grant();
    world.pass(MINUTE_MS);
    // At rest, that is somebody else's business.
    if (isLeftDown(world)) world.kubelet.start('hand');
    wrong = Object.entries(AT_REST)
      .map(([name, holds]) => ({ name, wrong: holds(world, ledger) }))
      .filter((each) => each.wrong !== undefined)
      .map((each) => `${each.name}: ${each.wrong}`)[0];
    const isStill = world.state() === state && world.kubelet.starts() === starts;
    still = wrong === undefined && isStill ? still + 1 : 0;
  }
  if (wrong !== undefined) throw new Error(wrong);
  claim('comesToRest', still < STILL_MINUTES ? 'something goes on' : undefined);
}

/** Nothing of ours was proven there, or its files are not to be put back: whoever has the node starts its kubelet. */
function isLeftDown({ kubelet, state, files }: World): boolean {
  const { doing, lastKnownGood } = state();
  const isOurs = lastKnownGood !== null && files.isInstalled(lastKnownGood);
  return kubelet.status().state === 'failed' && doing.phase === 'idle' && !isOurs;
}

/** What a decision did, without times: for counting, and for comparing lives. */
function tell({ before, decision: { next, actions } }: Turn, count: (what: Happening) => void, story: string[]): void {
  const [was, is] = [before.doing, next.doing];
  if (was.phase === 'trial' && is.phase === 'trial' && (is.unwatched ?? 0) > (was.unwatched ?? 0))
    count('trial that nobody watched begun again');
  if (was.phase === 'trial' && is.phase === 'idle') count('trial promoted');
  if (was.phase === 'trial' && is.phase === 'falling-back' && is.because === 'failed') count('trial taken back');
  if (was.phase === 'idle' && is.phase === 'trial' && sameConfig(before.lastKnownGood, is.config))
    count('trial over a new base');
  if (was.phase === 'falling-back' && was.to !== null && is.phase === 'falling-back' && is.to === null)
    count('lastKnownGood failed too');
  if (was.phase !== 'broken' && is.phase === 'broken') count('broken node');
  const did = actions.map((action) => ('target' in action ? `${action.do} ${nameOf(action.target)}` : action.do));
  if (did.length > 0 || was.phase !== is.phase) story.push(`${is.phase}: ${did.join(', ')}`);
}

function describeTurn({ before, seen, decision: { next, actions } }: Turn, { host, kubelet }: World): string {
  const { doing } = next;
  const step = 'change' in doing ? JSON.stringify(doing.change) : '';
  const did = actions.map((action) => ('target' in action ? `${action.do} ${nameOf(action.target)}` : action.do));
  const sees = `${seen.intent.intent} files ${seen.files.files} ${seen.health.health} ${seen.running.running} guard ${seen.guard.guard}`;
  const runs = `${nameOf(kubelet.read().ours)} ${kubelet.status().run}`;
  const knows = `${nameOf(next.assigned)}/${nameOf(next.lastKnownGood)} rejected ${next.rejected.map(({ name, reason }) => `${name} ${reason}`).join()}`;
  return `${host.now} ${knows} ${before.doing.phase} → ${doing.phase} ${step} | ${sees} | ${runs} | ${did.join(', ')} | ${next.error?.reason ?? ''}`;
}
