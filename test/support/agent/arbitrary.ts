import { fc } from '../property.ts';
import type { Files, Intent, Observation, Rechecked, Staged, StageResult } from '#agent/decide/observation.ts';
import type { Change, Config, Doing, Judged, Reboot, State, NodePressure, Target } from '#agent/decide/state.ts';
import { A, AT, B, C, ERROR_B, QUIET, TERMS } from './states.ts';

/** SHA-256 of a config that the node's owner put in place of its own. */
const NEWER = 'b'.repeat(64);

const FAILURE = { reason: 'NotHealthy', message: 'so it was' } as const;
const reboot: Reboot = { by: 'sentinel', boot: 'boot-1', timeoutMs: 600_000 };
const configs = fc.constantFrom<Config[]>(A, B, C, { ...A, apply: 'replace' }, { ...B, reboot });
const targets = fc.option(configs) as fc.Arbitrary<Target>;
const spans = fc.constantFrom(0, 4_999, 5_000, 14_999, 15_000, 29_999, 120_000, 595_000, 600_000);
const runs = fc.constantFrom(null, 'run-1', 'run-2');
const boots = fc.constantFrom('boot-1', 'boot-2');
const counts = fc.constantFrom(null, 0, 1, 3);

const judged: fc.Arbitrary<Judged> = fc.record({
  bootId: boots,
  run: runs,
  automaticRestarts: counts,
  restarts: fc.integer({ min: 0, max: 3 }),
  healthyMs: spans,
  unhealthyMs: spans,
  healthy: fc.boolean(),
  everHealthy: fc.boolean(),
  lapses: fc.integer({ min: 0, max: 4 }),
});

const changes: fc.Arbitrary<Change> = fc.oneof(
  fc.constant<Change>({ step: 'install' }),
  fc.record({
    step: fc.constant('restart' as const),
    runBefore: runs,
    bootId: boots,
    orders: fc.integer({ min: 1, max: 30 }),
    waitedMs: spans,
  }),
  fc.record({
    step: fc.constant('reboot' as const),
    bootId: boots,
    orders: fc.integer({ min: 1, max: 30 }),
    waitedMs: spans,
  }),
  fc.record({ step: fc.constant('judge' as const), judged }),
);

const podHarm = fc.dictionary(
  fc.constantFrom('evicted memory.available', 'evicted emptydirfs.limit', 'refused OutOfcpu', 'refused Other'),
  fc.nat(3),
  { noNullPrototype: true },
);

export const strains: fc.Arbitrary<NodePressure> = fc.record({
  pressures: fc.option(fc.subarray(['MemoryPressure', 'DiskPressure', 'PIDPressure'])),
  outOfMemory: fc.option(
    fc.dictionary(fc.constantFrom('kubepods.slice', 'kubepods'), fc.nat(3), { noNullPrototype: true }),
  ),
  pods: fc.option(podHarm),
  bootId: boots,
});

const doings: fc.Arbitrary<Doing> = fc.oneof(
  fc.constant<Doing>({ phase: 'idle' }),
  fc.record(
    {
      phase: fc.constant('trial' as const),
      config: configs,
      since: fc.constant(AT),
      wasReady: fc.boolean(),
      wasHealthy: fc.boolean(),
      minor: fc.constantFrom(33, 34),
      before: fc.constantFrom(null, { run: 'run-1', bootId: 'boot-1' }),
      strain: strains,
      warnings: fc.constant([]),
      change: changes,
    },
    { requiredKeys: ['phase', 'config', 'since', 'wasReady', 'wasHealthy', 'before', 'strain', 'warnings', 'change'] },
  ),
  fc.record({
    phase: fc.constant('falling-back' as const),
    to: targets,
    because: fc.constantFrom('failed' as const, 'unassigned' as const, 'superseded' as const, 'drifted' as const),
    terms: fc.constant(TERMS),
    change: changes,
  }),
  fc.record({ phase: fc.constant('broken' as const), judged, waitedMs: spans }),
);

const rejections = fc
  .uniqueArray(configs, { maxLength: 3 })
  .map((rejected) =>
    rejected.map(({ source: { name, sha256 }, apply }) => ({ name, sha256, apply, ...FAILURE, at: AT })),
  );

/** Any state at all, those included that no history leads to. */
export const arbitraryState: fc.Arbitrary<State> = fc.record(
  {
    assigned: targets,
    lastKnownGood: targets,
    doing: doings,
    rejected: rejections,
    error: fc.constantFrom(null, ERROR_B),
    promotedAt: fc.constantFrom(null, AT),
    refusedBase: fc.constantFrom(null, { sha256: NEWER, message: 'it failed', at: AT }),
    unproved: fc.record({
      sha256: configs.map(({ source }) => source.sha256),
      to: targets,
      bootId: boots,
      absences: fc.nat(2),
    }),
    obeyed: fc.record({ uid: fc.constantFrom('knode-1', 'knode-2'), order: fc.integer({ min: 1, max: 3 }) }),
  },
  { requiredKeys: ['assigned', 'lastKnownGood', 'doing', 'rejected', 'error', 'promotedAt', 'refusedBase'] },
);

const intents: fc.Arbitrary<Intent> = fc.oneof(
  fc.constant<Intent>({ intent: 'unknown' }),
  fc.constant<Intent>({ intent: 'local' }),
  fc.constant<Intent>({ intent: 'invalid', failure: { reason: 'InvalidAssignment', message: 'unreadable' } }),
  configs.map((config): Intent => ({ intent: 'config', config })),
  configs.map((config): Intent => ({ intent: 'config', config, turn: QUIET.fingerprint })),
  configs.map((config): Intent => ({ intent: 'config', config, isSpent: true })),
);

const bases = fc.constantFrom<Observation['base'][]>(
  { under: null, newer: null },
  { under: 'a'.repeat(64), newer: null },
  { under: 'a'.repeat(64), newer: { sha256: NEWER, changes: true } },
  { under: 'a'.repeat(64), newer: { sha256: NEWER, changes: false } },
  { under: NEWER, newer: { sha256: NEWER, changes: true, lost: 'kept' } },
);

const outcomes = fc.constantFrom<Staged[]>(
  { config: A, outcome: 'ready', warnings: [] },
  { config: A, outcome: 'refused', failure: FAILURE },
  { config: A, outcome: 'unavailable', failure: FAILURE, retryInMs: 0 },
  { config: A, outcome: 'unavailable', failure: FAILURE, retryInMs: 3_000 },
);

const files = fc.constantFrom<Files[]>(
  { files: 'installed' },
  { files: 'differ' },
  { files: 'lost', message: 'gone' },
  { files: 'blocked', message: 'no way', forGood: true },
  { files: 'blocked', message: 'not now', forGood: false },
);

const rechecks: fc.Arbitrary<Rechecked> = fc.record({
  config: configs,
  remedy: fc.constantFrom('put-back', 'try-over', 'start-again', 'none'),
  result: fc.constantFrom<StageResult[]>(
    { outcome: 'ready', warnings: [] },
    { outcome: 'refused', failure: FAILURE },
    { outcome: 'unavailable', failure: FAILURE },
  ),
  isNew: fc.boolean(),
  retryInMs: fc.constantFrom(-1, 0, 3_000),
});

const FULL: NonNullable<Observation['fault']> = { reason: 'CannotInstall', message: 'no', isFull: true };

/** Anything that a look can find. What was staged is for what is wanted, as the observer sees to it. */
export const arbitraryObservation: fc.Arbitrary<Observation> = fc
  .record({
    intent: intents,
    staged: fc.option(outcomes),
    files,
    service: fc.record({
      state: fc.constantFrom('running', 'starting', 'stopped', 'failed', 'unknown'),
      run: runs,
      automaticRestarts: counts,
    }),
    health: fc.constantFrom<Observation['health'][]>(
      { health: 'ok' },
      { health: 'off' },
      { health: 'down', reason: 'nobody listens' },
      { health: 'failing', reason: '500' },
    ),
    running: fc.constantFrom<Observation['running'][]>(
      { running: 'as-meant' },
      { running: 'contradicts', differences: ['maxPods=110 instead of 250'] },
      { running: 'unseen', why: 'forbidden' },
    ),
    nodeReady: fc.constantFrom('yes', 'no', 'unknown'),
    strain: strains,
    restart: fc.constantFrom('none', 'done', 'failed'),
    bootId: boots,
    elapsedMs: fc.constantFrom(0, 5_000, 15_000, 3_600_000),
    first: fc.boolean(),
    startedAsInstalled: fc.boolean(),
    startWasSeen: fc.boolean(),
    base: bases,
    runsStaged: fc.boolean(),
    repairAges: fc.array(fc.constantFrom(0, 1_000, 3_599_999, 3_600_000), { maxLength: 4 }),
    rechecked: fc.option(rechecks),
    downMs: fc.constantFrom(0, 15_000, 3_600_000),
    startAgeMs: fc.constantFrom(null, 0, 600_000),
    fault: fc.constantFrom(null, FULL, { ...FULL, isFull: false }),
    order: fc.option(fc.record({ uid: fc.constant('knode-1'), number: fc.nat(4) })),
  })
  .map(({ order, ...parts }) => {
    const { intent, staged } = parts;
    const config = intent.intent === 'config' ? intent.config : null;
    return {
      ...QUIET,
      ...parts,
      ...(order && { order }),
      staged: staged === null || config === null ? null : { ...staged, config },
    };
  });
