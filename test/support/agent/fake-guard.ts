import { join } from 'node:path';
import type { Disk } from '#agent/ports/disk.ts';
import type { Guard, GuardCause } from '#agent/ports/guard.ts';
import { createHostGuard } from '#agent/guard/host-guard.ts';
import { guardPaths, removedPathOf, stagedPathOf } from '#agent/guard/guard-paths.ts';
import { decodePlan } from '#agent/guard/guard-plan.ts';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import {
  type BootRecord,
  causeAtStart,
  causeAtTick,
  isSpared,
  lostBoots,
  MOST_LOST_BOOTS,
  SETTLED_SECONDS,
  TICK_MS,
} from './guard-rule.ts';
import type { JournaledFiles } from './journaled-files.ts';
import { createCrashInjector, type CrashInjector } from './crash-injection.ts';

export const UNIT_DIRECTORY = '/etc/systemd/system/kubelet.service.d';
const UNIT = 'kubelet.service';
const POD_UID = '0a1b2c3d-0000-1111-2222-333344445555';

/** The host as the guard's script sees it. */
export interface GuardHost {
  readonly stateDirectory: string;
  readonly files: JournaledFiles;
  readonly clock: Clock;
  readonly bootId: () => string;
  readonly uptimeMs: () => Millis;
  readonly isKubeletDown: () => boolean;
  readonly restartKubelet: () => void;
  /** By a person: then nobody else starts it. */
  readonly isKubeletStopped: () => boolean;
  /** Whether the kubelet has pods of the API server; left out where nobody watches boots. */
  readonly hasPods?: (() => boolean) | undefined;
  /** Whether the kubelet has the pod that the agent is in; it has where this is left out. */
  readonly hasAgentPod?: (() => boolean) | undefined;
  /** Of the script's runs. */
  readonly process?: CrashInjector | undefined;
  readonly frozen?: FrozenGuard | undefined;
}

/** What the service manager knows of the guard. */
export interface FrozenGuard {
  readonly isLoaded: boolean;
  readonly hasTimer: boolean;
}

/** The agent's own guard, over a service manager and a script that behave as the host's do. */
export interface FakeGuard {
  /** Before each start of the kubelet; undefined where the service manager knows of no guard. Never rejects. */
  beforeStart(): Promise<void> | undefined;
  /** The machine was started again: no timer runs, and units are as their files say. */
  reboot(): void;
  /** For one agent. */
  port(disk: Disk, process: CrashInjector): Guard;
  freeze(): FrozenGuard;
}

/** What the script has read; `restore` in its own words. */
interface Plan {
  readonly maxStarts: number;
  readonly silenceSeconds: number;
  readonly dropIn: string;
  /** The boot of the promotion; undefined for a trial. */
  readonly watch: string | undefined;
  readonly restore: readonly (readonly [string, string])[];
}

export function createFakeGuard(host: GuardHost): FakeGuard {
  const { stateDirectory, files, clock, process = createCrashInjector(), frozen } = host;
  const paths = guardPaths(stateDirectory, UNIT_DIRECTORY);
  const calls = files.calls(process);
  let isLoaded = frozen?.isLoaded ?? false;
  /** Of the timer that counts. */
  let timer = 0;
  let hasTimer = false;
  let isUnsynced = false;

  const text = async (path: string): Promise<string> => (await calls.readFile(path).catch(() => '')).toString();
  const words = async (path: string): Promise<readonly string[]> => (await text(path)).trim().split(/\s+/);
  const readPlan = async (path: string): Promise<Plan | undefined> => {
    const bytes = await calls.readFile(path).catch(() => null);
    const head = decodePlan(bytes);
    if (head === undefined) return undefined;
    const lines = (bytes?.toString() ?? '')
      .split('\n')
      .map((line) => [line.split(' ')[0] ?? '', line.slice(line.indexOf(' ') + 1)] as const);
    const said = new Map(lines);
    const restore = lines.filter(([word]) => ['put', 'put-empty', 'remove'].includes(word));
    return {
      maxStarts: Number(said.get('max-starts')),
      silenceSeconds: Number(said.get('silence')),
      dropIn: head.dropIn,
      watch: said.get('watch'),
      restore,
    };
  };
  /** Over the beginning of what is there, without truncating it; what cannot be written is let be. */
  const writeLine = (path: string, line: string): Promise<boolean> =>
    files.writeOver(process, path, `${line}\n`).then(
      () => true,
      () => false,
    );
  const gone = (path: string): Promise<void> => calls.unlink(path).catch(() => undefined);

  const uptime = (): number => Math.floor(host.uptimeMs() / 1000);
  const starts = async (): Promise<{ readonly count: number; readonly first: number | undefined }> => {
    const [boot, count, first] = await words(paths.starts);
    return boot === host.bootId() ? { count: Number(count), first: Number(first) } : { count: 0, first: undefined };
  };
  const quiet = async (first: number | undefined): Promise<number> => {
    const [boot, seconds] = await words(paths.alive);
    const sign = boot === host.bootId() && Number(seconds) <= uptime() ? Number(seconds) : 0;
    return uptime() - Math.max(sign, first ?? 0);
  };
  const readBoot = async (): Promise<BootRecord> => {
    const [boot = '', lost, since, ...again] = await words(paths.boots);
    const isWhole = again.join(' ') === [boot, lost, since].join(' ');
    if (!isWhole) return { boot: '', lost: 0, since: undefined };
    return { boot, lost: Number(lost), since: since === '-' ? undefined : Number(since) };
  };
  const writeBoot = async (lost: number, since: string): Promise<void> => {
    const half = `${host.bootId().padEnd(36)} ${String(lost).padStart(10)} ${since.padStart(12)}`;
    isUnsynced = await writeLine(paths.boots, `${half} ${half}`);
  };
  const syncBoots = async (): Promise<void> => {
    if (isUnsynced) await files.syncFile(process, paths.boots).catch(() => undefined);
    isUnsynced = false;
  };
  const signOf = async (): Promise<{ readonly boot: string; readonly age: number }> => {
    const [boot = '', age] = await words(paths.alive);
    return { boot, age: Number(age) };
  };
  /** @returns how many in a row were lost */
  const countBoots = async (): Promise<number> => {
    const before = await readBoot();
    const lost = lostBoots(before, host.bootId(), await signOf());
    if (before.boot !== host.bootId()) await writeBoot(lost, String(uptime()));
    return lost;
  };
  const spareBoot = async (): Promise<void> => {
    const [{ boot, lost, since }, sign] = [await readBoot(), await signOf()];
    if (boot !== host.bootId() || since === undefined) return;
    if (isSpared(since, uptime(), sign.boot === boot ? sign.age : 0)) await writeBoot(lost, '-');
  };
  const writeNote = (cause: string, count: number, restarted: 'yes' | 'no'): Promise<boolean> =>
    writeLine(
      paths.note,
      `${cause.padEnd(8)} ${String(count).padStart(10)} ${restarted.padEnd(3)} ${toTimestamp(clock.now())}`,
    );

  const isThere = (path: string): boolean => files.tree()[path] !== undefined;
  /** What waited is gone: it was put back, or nobody can tell, or somebody took it away (which nobody does here). */
  const isPutBack = (path: string): boolean => {
    const [copy, there] = [files.tree()[join(paths.copies, path)], files.tree()[path]];
    return copy === undefined || there === undefined || copy === there;
  };
  const isHalfDone = ({ restore }: Plan): boolean =>
    restore.some(([word, path]) =>
      word === 'remove' ? isThere(removedPathOf(path)) : !isThere(stagedPathOf(path)) && isPutBack(path),
    );
  const restore = async (plan: Plan): Promise<void> => {
    for (const [word, path] of plan.restore) {
      if (word === 'remove') {
        if (!isThere(removedPathOf(path))) await calls.rename(path, removedPathOf(path)).catch(() => undefined);
      } else if (word === 'put-empty' || (await text(stagedPathOf(path))) !== '') {
        await calls.rename(stagedPathOf(path), path).catch(() => undefined);
      }
    }
  };
  const fire = async (plan: Plan, cause: string, count: number, restarted: 'yes' | 'no'): Promise<void> => {
    await writeNote(cause, count, restarted);
    await restore(plan);
    await calls.rename(paths.plan, paths.fired).catch(() => undefined);
  };
  const orderRestart = async (cause: string, count: number): Promise<void> => {
    host.restartKubelet();
    await writeNote(cause, count, 'yes');
  };
  const unfinished = async (): Promise<{ readonly cause: string; readonly count: number } | undefined> => {
    const [cause = '', count, restarted] = await words(paths.note);
    return restarted === 'no' ? { cause, count: Number(count) } : undefined;
  };

  const watchTrial = async (plan: Plan): Promise<void> => {
    const { count, first } = await starts();
    const cause = causeAtTick({ ...plan, quietSeconds: await quiet(first) }, host.isKubeletDown);
    await act(plan, cause, count);
  };
  const hasAgentPod = (pod: string | undefined): boolean => pod === undefined || (host.hasAgentPod?.() ?? true);
  const noMore = (): Promise<boolean> => writeLine(paths.starts, '-'.padEnd(61));
  const sinceNow = (count: number): Promise<boolean> =>
    writeLine(
      paths.starts,
      `${host.bootId().padEnd(36)} ${String(count).padStart(10)} ${String(uptime()).padStart(12)}`,
    );
  /** @returns whether anybody waits for the agent after this start */
  const awaitAgent = async (): Promise<boolean> => {
    const [boot, , pod] = await words(paths.alive);
    if (boot !== host.bootId() || pod === undefined || !hasAgentPod(pod)) return (await starts()).count !== 0;
    await sinceNow(1);
    return true;
  };
  /** @returns whether there is nothing to wait for in this boot */
  const watchBoot = async (plan: Plan): Promise<boolean> => {
    const [boot, sign, pod] = await words(paths.alive);
    const { count, first } = await starts();
    if (plan.watch === host.bootId()) {
      const hasLived = count === 1 && Number(sign) >= (first ?? 0) + SETTLED_SECONDS;
      if (count === 0 || (boot === host.bootId() && hasLived)) {
        await noMore();
        return true;
      }
      if (host.isKubeletDown() || hasAgentPod(pod)) {
        if (count !== 1) await sinceNow(1);
        await act(plan, undefined, count);
      } else if (count === 1) {
        await sinceNow(2);
      } else {
        await act(plan, uptime() - (first ?? uptime()) >= plan.silenceSeconds ? 'silence' : undefined, count);
      }
      return false;
    }
    if (boot === host.bootId()) return true;
    if (host.hasPods?.() !== true) {
      await noMore();
    } else if (first === undefined) {
      await sinceNow(1);
    } else {
      await act(plan, uptime() - first >= plan.silenceSeconds ? 'silence' : undefined, 1);
    }
    return false;
  };
  const act = async (plan: Plan, cause: GuardCause | undefined, count: number): Promise<void> => {
    const isDoubted = (await words(paths.doubt))[0] === host.bootId();
    if (cause === undefined) return void (isDoubted && (await writeLine(paths.doubt, '-'.padEnd(36))));
    if (!isDoubted && ((await writeLine(paths.doubt, host.bootId().padEnd(36))) || cause === 'down')) return;
    await fire(plan, cause, count, 'no');
    if (!host.isKubeletStopped()) await orderRestart(cause, count);
  };
  /** @returns whether nothing is left to be done */
  const tidy = async (): Promise<boolean> => {
    const plan = await readPlan(paths.fired);
    if (plan === undefined) return true;
    const note = await unfinished();
    if (note !== undefined && host.isKubeletStopped()) return false;
    if (note !== undefined) await orderRestart(note.cause, note.count);
    files.sync();
    await gone(plan.dropIn);
    readUnits();
    for (const [word, path] of plan.restore) await gone(word === 'remove' ? removedPathOf(path) : stagedPathOf(path));
    // Its copies go, too: here they stay, as whoever comes next goes by other files.
    for (const path of [paths.starts, paths.boots, paths.alive, paths.doubt, paths.script]) await gone(path);
    return true;
  };
  const tick = async (): Promise<void> => {
    const plan = await readPlan(paths.plan);
    if (plan !== undefined) await spareBoot();
    if (plan !== undefined && plan.watch === undefined) return watchTrial(plan);
    if (plan === undefined ? await tidy() : await watchBoot(plan)) stopTimer();
  };
  const start = async (): Promise<void> => {
    const plan = await readPlan(paths.plan);
    if (plan === undefined) {
      const fired = await readPlan(paths.fired);
      if (fired === undefined) return;
      await restore(fired);
      const note = await unfinished();
      if (note !== undefined) await writeNote(note.cause, note.count, 'yes');
      return ensureTimer();
    }
    const lost = plan.watch === host.bootId() ? 0 : await countBoots();
    if (plan.watch !== undefined) {
      if (isHalfDone(plan)) await fire(plan, (await words(paths.note))[0] ?? '', 0, 'yes');
      else if (lost >= MOST_LOST_BOOTS) await fire(plan, 'boots', lost, 'yes');
      else if (plan.watch === host.bootId() && !(await awaitAgent())) return;
      return ensureTimer();
    }
    const before = await starts();
    const [count, first] = [before.count + 1, before.first ?? uptime()];
    await writeLine(
      paths.starts,
      `${host.bootId().padEnd(36)} ${String(count).padStart(10)} ${String(first).padStart(12)}`,
    );
    if (isHalfDone(plan)) {
      const [cause = '', starts] = await words(paths.note);
      await fire(plan, cause, Number(starts), 'yes');
    } else {
      const found = causeAtStart({ ...plan, quietSeconds: await quiet(first), lost }, count);
      if (found !== undefined) await fire(plan, found, found === 'boots' ? lost : count, 'yes');
    }
    ensureTimer();
  };

  const readUnits = (): void => {
    isLoaded = files.tree()[paths.dropIn] !== undefined;
  };
  const stopTimer = (): void => {
    timer += 1;
    hasTimer = false;
  };
  const ensureTimer = (): void => {
    if (hasTimer) return;
    hasTimer = true;
    timer += 1;
    void runTimer(timer);
  };
  const runTimer = async (mine: number): Promise<void> => {
    for (;;) {
      await clock.sleep(TICK_MS);
      if (mine !== timer) return;
      await tick();
      await syncBoots();
    }
  };
  if (frozen?.hasTimer === true) ensureTimer();

  return {
    beforeStart: () => (isLoaded ? start().then(syncBoots) : undefined),
    reboot() {
      stopTimer();
      readUnits();
    },
    freeze: () => ({ isLoaded, hasTimer }),
    port: (disk, agent) =>
      createHostGuard({
        disk,
        stateDirectory,
        unit: UNIT,
        unitDirectory: UNIT_DIRECTORY,
        systemd: {
          daemonReload: () => agent.at({ call: 'reload-units', path: UNIT }, readUnits),
          stopUnit: () => agent.at({ call: 'stop-timer', path: UNIT }, stopTimer),
          dropInsOf: agent.alive(() => Promise.resolve(isLoaded ? [paths.dropIn] : [])),
          startTimeoutOf: agent.alive(() => Promise.resolve(90)),
        },
        script: () => Promise.resolve(Buffer.from('# stands for the script\n')),
        bootId: () => Promise.resolve(host.bootId()),
        uptimeSeconds: () => Promise.resolve(host.uptimeMs() / 1000),
        podUid: () => Promise.resolve(POD_UID),
        watchesBoots: host.hasPods !== undefined,
      }),
  };
}
