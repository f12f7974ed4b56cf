import type { Disk } from '../ports/disk.ts';
import { isDiskFull } from '../host/disk/disk-full.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { type ArmOptions, armGuard, keepArmed } from './arm.ts';
import type { Guard, GuardSeen } from '../ports/guard.ts';
import { guardPaths, GUARD_TIMER, isPlainPath, secondsIn } from './guard-paths.ts';
import { decodePlan, encodePlan, type ReadPlan } from './guard-plan.ts';
import { aliveLine, isCounting, readGuardNote } from './guard-records.ts';
import type { GuardSystemd } from './guard-systemd.ts';
import { decodePlacedFiles, removePlacedFiles } from './placed-files.ts';
import { readFile } from 'node:fs/promises';

interface HostGuardOptions {
  readonly disk: Disk;
  /** The agent's own, at the same path for the agent and for the host. */
  readonly stateDirectory: string;
  /** `kubelet.service`. */
  readonly unit: string;
  /** Where the unit's owner puts drop-ins, at the same path for the agent and for the host. */
  readonly unitDirectory: string;
  readonly systemd: GuardSystemd;
  /** The text of `guard.sh`. */
  readonly script: () => Promise<Buffer>;
  readonly bootId: () => Promise<string>;
  /** Age of the machine in this boot. */
  readonly uptimeSeconds: () => Promise<number>;
  /** Whether what was promoted is watched over the next boot, too. */
  readonly watchesBoots?: boolean;
  /** Of the agent's own pod; empty outside of a pod, and if unknown. */
  readonly podUid?: () => Promise<string>;
}

/** The guard counts in minutes. */
const SIGN_OF_LIFE_EVERY_MS: Millis = 15_000;

/** Half of an arming or a disarming: no trial has this name, so that the agent arms again, or disarms. */
const REMNANTS: GuardSeen = { guard: 'armed', trial: '', to: '' };

/**
 * The guard as a script that the host's systemd runs: before each start of the kubelet, by a drop-in of its unit, and by a
 * timer. What an interrupted `arm` or `disarm` left behind is seen as armed, for a trial without a name.
 *
 * Its errors: `GUARD_PATH`, `GUARD_ORDER`, `GUARD_FILES`, `GUARD_SYSTEMD`, `GUARD_NOT_LOADED`.
 */
export function createHostGuard(options: HostGuardOptions): Guard {
  const { disk, stateDirectory, unit, unitDirectory, systemd, script, bootId, uptimeSeconds, podUid } = options;
  const paths = guardPaths(stateDirectory, unitDirectory);
  let lastSign: Millis | undefined;

  const sign = async (): Promise<Buffer> => aliveLine(await bootId(), await uptimeSeconds(), await podUid?.());

  const arming: ArmOptions = { disk, systemd, unit, paths, script, sign };

  const takeAway = async (): Promise<void> => {
    const hasDirectory = (await disk.stat(paths.directory)) !== null;
    if (!hasDirectory && (await disk.stat(paths.dropIn)) === null) return;
    await disk.remove(paths.plan);
    const traces = decodePlacedFiles(await readable(disk, paths.traces));
    await removePlacedFiles(disk, { staged: traces.staged, made: [] });
    await disk.remove(paths.dropIn);
    await removePlacedFiles(disk, { staged: [], made: traces.made });
    await systemd.daemonReload();
    await systemd.stopUnit(GUARD_TIMER);
    // Last, because it remembers what else there is.
    await disk.remove(paths.directory);
  };

  return {
    look: async () => {
      try {
        return await lookAround(options, paths);
      } catch {
        return { guard: 'disarmed' };
      }
    },
    async arm(order) {
      for (const path of [paths.directory, unitDirectory]) if (!isPlainPath(path)) throw notPlain(path);
      const plan = encodePlan(order, { unit, dropIn: paths.dropIn });
      try {
        await armGuard(arming, plan, order.restore);
        lastSign = (await uptimeSeconds()) * 1_000;
      } catch (error) {
        // The guard of the trial before leads to the same config, and is better than none. Half a guard is none.
        const left = await lookAround(options, paths).catch(() => REMNANTS);
        const isOfBefore = left.guard === 'armed' && left.trial !== order.trial && left.to === order.to;
        if (!isOfBefore) await takeAway().catch(() => undefined);
        throw error instanceof GitopsError && error.code.startsWith('GUARD_') ? error : notArmed(error, unitDirectory);
      }
    },
    async disarm() {
      try {
        await takeAway();
      } catch (error) {
        const message = `the guard of the kubelet's start cannot be taken away, and will be later: ${reasonOf(error)}`;
        throw new GitopsError('GUARD_FILES', message, { cause: error });
      }
    },
    async heartbeat() {
      // As the guard counts: pauses of the machine included, in which the clock of the process stands still.
      const now = (await uptimeSeconds().catch(() => Number.NaN)) * 1_000;
      if (lastSign !== undefined && now - lastSign < SIGN_OF_LIFE_EVERY_MS) return;
      try {
        if ((await disk.stat(paths.plan)) === null) return;
        await renew(disk, paths.alive, await sign());
        lastSign = now;
        await keepArmed(arming);
      } catch (error) {
        const message = `the guard cannot be told that the agent is alive, and may take the trial back: ${reasonOf(error)}`;
        throw new GitopsError('GUARD_FILES', message, { cause: error });
      }
    },
  };
}

/** For an agent without a guard: what one before it left would miss its signs of life. The script does nothing without a plan. */
export const disableGuard = (disk: Pick<Disk, 'remove'>, stateDirectory: string): Promise<void> =>
  disk.remove(guardPaths(stateDirectory, '/').plan);

/** Overwritten in place if possible: an agent that is alive must not look silent because the disk is full. */
async function renew(disk: Disk, path: string, sign: Buffer): Promise<void> {
  const there = await disk.stat(path);
  if (there?.kind === 'file' && there.size === sign.length) return disk.writeOver(path, sign);
  await disk.replace(path, sign, { mode: 0o600 });
}

/** Armed means that the next start of the kubelet is counted: everything that this takes is in place. */
async function lookAround(
  { disk, unit, script, watchesBoots = false }: HostGuardOptions,
  paths: ReturnType<typeof guardPaths>,
): Promise<GuardSeen> {
  const dropIn = await readable(disk, paths.dropIn);
  const plan = decodePlan(await readable(disk, paths.plan));
  const boots: Pick<Disarmed, 'boots'> = watchesBoots ? { boots: { guard: 'disarmed' } } : {};
  if (plan !== undefined) {
    const isWhole =
      plan.unit === unit &&
      plan.dropIn === paths.dropIn &&
      secondsIn(String(dropIn), paths.script) !== undefined &&
      (await disk.stat(paths.script))?.size === (await script()).length;
    if (!isWhole) return REMNANTS;
    const asks = plan.watch !== undefined && isCounting(await readable(disk, paths.starts));
    return asSeen(plan, { guard: 'armed', trial: plan.trial, to: plan.to, ...(asks ? { asks } : {}) }, boots);
  }
  const fired = decodePlan(await readable(disk, paths.fired));
  if (fired !== undefined) {
    const note = readGuardNote(await readable(disk, paths.note));
    const watch = fired.watch === undefined ? {} : { watch: fired.watch };
    return asSeen(fired, { guard: 'fired', trial: fired.trial, to: fired.to, ...note, ...watch });
  }
  const isGone = dropIn === null && (await disk.stat(paths.directory)) === null;
  return isGone ? { guard: 'disarmed', ...boots } : REMNANTS;
}

/** For a trial, one that only watches boots is not there. */
const asSeen = ({ watch }: ReadPlan, seen: GuardSeen, boots: Pick<Disarmed, 'boots'> = {}): GuardSeen =>
  watch !== undefined ? { guard: 'disarmed', boots: seen } : { ...seen, ...boots };

type Disarmed = Extract<GuardSeen, { readonly guard: 'disarmed' }>;

/** What cannot be read is as good as not there. */
const readable = (disk: Pick<Disk, 'read'>, path: string): Promise<Buffer | null> => disk.read(path).catch(() => null);

function notPlain(path: string): GitopsError {
  const message =
    `the guard cannot work with ${JSON.stringify(path)}, which goes into a systemd unit: choose a path of letters, digits ` +
    'and /._@:+,=- for STATE_DIR and KUBELET_UNIT_DIR, or set GUARD=off';
  return new GitopsError('GUARD_PATH', message, { disposition: { kind: 'stalled', until: 'operator' } });
}

function notArmed(cause: unknown, unitDirectory: string): GitopsError {
  const advice = isDiskFull(cause)
    ? 'Nothing is changed until there is room: that is looked for again by itself'
    : `The host's ${unitDirectory} (KUBELET_UNIT_DIR) has to be mounted, writable, at the same path; GUARD=off does ` +
      'without a guard';
  const message = `the guard that takes a config back without the agent cannot be set up: ${reasonOf(cause)}. ${advice}`;
  return new GitopsError('GUARD_FILES', message, { cause });
}

/** The text of the guard's script. It lies beside this file, and beside the bundle that this file becomes a part of. */
export const readGuardScript = (): Promise<Buffer> => readFile(new URL('./guard.sh', import.meta.url));
