import { join } from 'node:path';

/** The timer that the guard makes for itself, with a service of the same name. */
export const GUARD_TIMER = 'kubelet-gitops-guard.timer';

/** Late by name, so that hardly anything of the unit's owner comes after it. */
const GUARD_DROP_IN = '90-kubelet-gitops-guard.conf';

/**
 * What is to be put back lies beside its place under this name, so that putting it back is one rename. It never ends in
 * `.conf`: the kubelet would read it in its drop-in directory.
 */
export const stagedPathOf = (target: string): string => `${target}${STAGED}`;

/** A file to remove is renamed to this first, so that an interrupted restore can be seen to have begun. */
export const removedPathOf = (target: string): string => `${target}${REMOVED}`;

/** Either of the two. */
export const isStagedPath = (path: string): boolean => path.endsWith(STAGED) || path.endsWith(REMOVED);

const STAGED = '.kubelet-gitops-restore';
const REMOVED = '.kubelet-gitops-removed';

/** Where the guard has its files; the script knows the same names. */
export interface GuardPaths {
  readonly directory: string;
  readonly script: string;
  /** What is to be done; the guard acts on nothing else. */
  readonly plan: string;
  /** The plan, after it was carried out. */
  readonly fired: string;
  /** What the guard says of how it was carried out. */
  readonly note: string;
  /** Starts of the kubelet that were counted. */
  readonly starts: string;
  /** Boots that were counted. */
  readonly boots: string;
  /** The agent's sign of life. */
  readonly alive: string;
  /** What the last tick thought. */
  readonly doubt: string;
  /** Holds, below its whole path, once more what waits beside each file that is to be put back. */
  readonly copies: string;
  /** Everything that was put outside of the directory. Only the agent reads it. */
  readonly traces: string;
  readonly dropIn: string;
}

/** @param unitDirectory where the unit's owner puts drop-ins: `/etc/systemd/system/kubelet.service.d` */
export function guardPaths(stateDirectory: string, unitDirectory: string): GuardPaths {
  const directory = join(stateDirectory, 'guard');
  const inside = (name: string): string => join(directory, name);
  return {
    directory,
    script: inside('guard.sh'),
    plan: inside('plan'),
    fired: inside('fired'),
    note: inside('note'),
    starts: inside('starts'),
    boots: inside('boots'),
    alive: inside('alive'),
    doubt: inside('doubt'),
    copies: inside('copies'),
    traces: inside('traces'),
    dropIn: join(unitDirectory, GUARD_DROP_IN),
  };
}

/**
 * For how many seconds the guard may keep the kubelet waiting.
 *
 * @param startTimeout the unit's, in seconds: systemd forgives it that it fails, but not that it takes longer
 */
export const guardSeconds = (startTimeout: number): number => Math.floor(Math.min(startTimeout / 3, 20));

/** The only file outside of the state directory that makes anybody do anything. */
export const dropInText = (script: string, seconds: number): string => `\
# Here for a trial, and for the boot after it; kubelet-gitops takes it away again. It cannot keep the kubelet from starting.
[Service]
ExecStartPre=-/bin/sh -c 'test -f ${script} && exec /bin/sh ${script} start ${seconds}'
`;

/** The seconds in the text of a drop-in; undefined where that is not the guard's. */
export function secondsIn(text: string, script: string): number | undefined {
  const seconds = Number(/ start (\d+)'\n$/.exec(text)?.[1]);
  return text === dropInText(script, seconds) ? seconds : undefined;
}

/** It is written into a unit and a shell command: nothing that needs quotes in either. */
export const isPlainPath = (path: string): boolean => /^\/[\w/.@:+,=-]*$/.test(path);
