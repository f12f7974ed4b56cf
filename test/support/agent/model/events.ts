import { fc } from '../../property.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import type { RecordName } from '#agent/checkpoint/write-order.ts';
import type { Config, TrialTerms } from '#agent/decide/state.ts';
import { payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { config as configNamed } from '../states.ts';
import { checkpointOf } from './execute.ts';
import type { Fate, Happening } from './host.ts';
import type { Death, World } from './world.ts';

/** What can happen to a node, in any order. */
export type Event =
  | { readonly event: 'assign'; readonly which: number; readonly again: boolean; readonly short: boolean }
  | {
      readonly event:
        | 'unassign'
        | 'unreadable'
        | 'crash'
        | 'restart-by-hand'
        | 'touch'
        | 'provision'
        | 'grant'
        | 'stop-by-hand';
    }
  /** From then on, or no longer. */
  | { readonly event: 'uninstall'; readonly back: boolean }
  | { readonly event: 'api' | 'runtime'; readonly fails: boolean }
  /** There is room for so many files more; null: enough. */
  | { readonly event: 'disk'; readonly room: number | null }
  | { readonly event: 'kill'; readonly awayMs: Millis }
  /** So many times in a row, each soon after the one before and without an agent; it is away for so long after the last. */
  | { readonly event: 'reboot'; readonly times: number; readonly awayMs: Millis }
  | { readonly event: 'doom'; readonly death: Death }
  | { readonly event: 'clock'; readonly byMs: Millis }
  | { readonly event: 'no-guard' | 'no-restart'; readonly times: number }
  | { readonly event: 'lose-checkpoint'; readonly which: number }
  | { readonly event: 'damage'; readonly record: RecordName }
  | { readonly event: 'pass'; readonly ms: Millis };

/** A node and its life. */
export interface History {
  /** Of each config that may be assigned. */
  readonly fates: readonly Fate[];
  readonly isGuarded: boolean;
  /** The kubelet is started by another program, which waits for an API server. */
  readonly isSupervised?: boolean;
  readonly startLimit: number;
  readonly drift: Config['drift'];
  readonly events: readonly Event[];
}

const HOUR_MS = 3_600_000;
const SHORT_BOOT_MS = 70_000;
const LONG: TrialTerms = { durationMs: 100_000, startTimeoutMs: 20_000, maxRestarts: 1 };
const SHORT: TrialTerms = { durationMs: 20_000, startTimeoutMs: 15_000, maxRestarts: 2 };
const LETTERS = ['a', 'b', 'c', 'd'] as const;

/** The second one differs from the first by the way it is applied only. */
export const CONFIGS: readonly Config[] = LETTERS.map((letter, index) => ({
  ...configNamed(letter, index === 1 ? 'replace' : 'overlay'),
  source: { ...configNamed(letter).source, sha256: payloadSha256(index === 1 ? 'a' : letter) },
}));

/** How often it happens, what, and with what. */
const often = <P>(
  weight: number,
  event: string | fc.Arbitrary<string>,
  parts?: { [K in keyof P]: fc.Arbitrary<P[K]> },
) => {
  const name = typeof event === 'string' ? fc.constant(event) : event;
  return { weight, arbitrary: parts === undefined ? fc.constant({ event }) : fc.record({ event: name, ...parts }) };
};
const millis = (...spans: readonly Millis[]): fc.Arbitrary<Millis> => fc.constantFrom(...spans);
const away = millis(0, 1_000, 20_000, 90_000, 90_000, 400_000);
const deaths: fc.Arbitrary<Death> = fc.record({
  during: fc.constantFrom('save' as const, 'act' as const),
  after: fc.integer({ min: 0, max: 3 }),
  awayMs: away,
});

const which = fc.nat(LETTERS.length - 1);
const events = fc.oneof(
  often(8, 'assign', { which, again: fc.boolean(), short: fc.boolean() }),
  often(2, 'unassign'),
  often(1, 'unreadable'),
  often(3, 'crash'),
  often(2, 'restart-by-hand'),
  often(2, 'stop-by-hand'),
  often(2, 'touch'),
  often(3, 'provision'),
  often(3, 'grant'),
  often(2, 'uninstall', { back: fc.constantFrom(true, true, false) }),
  often(5, fc.constantFrom('api', 'runtime'), { fails: fc.constantFrom(true, false, false) }),
  often(3, 'disk', { room: fc.constantFrom(0, 1, 2, null, null, null, null) }),
  often(3, 'reboot', { times: fc.constantFrom(1, 1, 3), awayMs: away }),
  often(4, 'kill', { awayMs: away }),
  often(5, 'doom', { death: deaths }),
  often(3, 'clock', { byMs: millis(HOUR_MS, -HOUR_MS) }),
  often(2, fc.constantFrom('no-guard', 'no-restart'), { times: fc.constantFrom(1, 3, 14) }),
  often(1, 'lose-checkpoint', { which }),
  often(1, 'damage', { record: fc.constantFrom<RecordName[]>('assigned', 'last-known-good', 'trial', 'rejected') }),
  often(24, 'pass', { ms: millis(0, 1_000, 4_000, 7_000, 12_000, 30_000, 100_000) }),
) as fc.Arbitrary<Event>;
const fates = fc.tuple(
  ...LETTERS.map(() =>
    fc.constantFrom<Fate[]>('good', 'good', 'good', 'dies', 'hangs', 'flaps', 'shadowed', 'refused'),
  ),
);

export const histories: fc.Arbitrary<History> = fc.record({
  fates,
  isGuarded: fc.constantFrom(true, true, true, false),
  isSupervised: fc.constantFrom(false, false, true),
  startLimit: fc.constantFrom(Infinity, Infinity, 3, 1, 0),
  drift: fc.constantFrom('repair' as const, 'repair' as const, 'report' as const),
  events: fc.array(events, { minLength: 10, maxLength: 80, size: 'max' }),
});

const ASSIGNMENT: Readonly<Record<Fate, Happening>> = {
  good: 'assignment of a good config',
  refused: 'assignment of a refused config',
  dies: 'assignment of a config that the kubelet dies of',
  hangs: 'assignment of a config that the kubelet hangs with',
  flaps: 'assignment of a config that the kubelet flaps with',
  shadowed: 'assignment of a config that a flag shadows',
};

/** Makes it happen. */
export function happen(world: World, event: Event, { drift }: Pick<History, 'drift'>): void {
  const { host, kubelet, files, checkpoints, records, fateOf } = world;
  switch (event.event) {
    case 'assign': {
      const config = CONFIGS[event.which] as Config;
      host.count(ASSIGNMENT[fateOf(config)]);
      if (event.again) host.count('config source made again');
      const source = { ...config.source, ...(event.again ? { uid: `${config.source.uid}-again` } : {}) };
      return world.want({ intent: 'config', config: { ...config, source, drift, trial: event.short ? SHORT : LONG } });
    }
    case 'unassign':
      host.count('unassignment');
      return world.want({ intent: 'local' });
    case 'unreadable':
      host.count('assignment that cannot be read');
      return world.want({ intent: 'invalid', failure: { reason: 'InvalidAssignment', message: 'no such field' } });
    case 'crash':
      kubelet.crash();
      return world.poke();
    case 'restart-by-hand':
      host.count('kubelet restarted by hand');
      kubelet.start('hand');
      return world.poke();
    case 'touch':
      host.count('managed file changed by somebody else');
      files.touch();
      return world.poke();
    case 'stop-by-hand':
      host.count('kubelet stopped by hand');
      kubelet.stopByHand();
      return world.poke();
    case 'provision':
      host.count('local config provisioned again');
      files.provision();
      return world.poke();
    case 'grant':
      return world.grant();
    case 'uninstall':
      if (!event.back) host.count('uninstall');
      return world.uninstall(!event.back);
    case 'api':
      if (event.fails && !host.isApiAway) host.count('API server lost');
      return world.loseApi(event.fails);
    case 'disk':
      host.room = event.room ?? Infinity;
      return;
    case 'runtime':
      if (event.fails && !host.isRuntimeDown) host.count('container runtime down');
      host.isRuntimeDown = event.fails;
      return;
    case 'reboot':
      host.count('reboot');
      if (world.state().doing.phase === 'trial') host.count('reboot in a trial');
      for (let time = 1; time < event.times; time += 1) {
        world.reboot(Infinity);
        world.pass(SHORT_BOOT_MS);
      }
      return world.reboot(event.awayMs);
    case 'kill':
      host.count(event.awayMs > 300_000 ? 'agent away for long' : 'agent killed between two turns');
      return world.kill(event.awayMs);
    case 'doom':
      return world.doom(event.death);
    case 'clock':
      host.count(event.byMs > 0 ? 'wall clock set an hour on' : 'wall clock set an hour back');
      host.wallShiftMs += event.byMs;
      return;
    case 'no-guard':
      host.armFaults = event.times;
      return;
    case 'no-restart':
      host.restartFaults = event.times;
      return;
    case 'lose-checkpoint':
      if (checkpoints.delete(checkpointOf(CONFIGS[event.which] as Config))) host.count('checkpoint lost');
      return;
    case 'damage':
      // A process that runs has read them, and writes them again.
      if (records.damage(event.record)) host.count('record damaged');
      return world.kill(1_000);
    case 'pass':
      return world.pass(event.ms);
  }
}
