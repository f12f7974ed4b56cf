import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import type { FileOwner } from './disk.ts';
import type { GuardedFile } from './guard.ts';

/** A config ready to be installed: the payload's exact bytes and how they meet the local config. */
export interface Installable {
  readonly payload: string;
  readonly apply: ApplyMode;
  /** See `ConfigIdentity`; left out for none. */
  readonly keepFields?: readonly string[];
  /** Hex SHA-256 of the local config under the overlay. Left out or lost, the saved copy of the local config is used. */
  readonly base?: string;
}

/** `drop-in`: a file in the kubelet's `--config-dir`, over the untouched local file. `file`: the kubelet's config file itself. */
type InstallMethod = 'drop-in' | 'file';

/** A file that is ours to look after, as it has to be. */
export type ManagedFile =
  | { readonly path: string; readonly holds: 'ours'; readonly bytes: Buffer; readonly owner: FileOwner }
  /** The node's own config, byte by byte. Whatever else the node's owner puts there is as good, and is left alone. */
  | { readonly path: string; readonly holds: 'local'; readonly bytes: Buffer; readonly owner: FileOwner }
  | { readonly path: string; readonly holds: 'nothing' };

/** What the managed files on the node would make the kubelet run at its next start. */
export interface InstallPlan {
  readonly method: InstallMethod;
  /** Whole KubeletConfiguration that the kubelet would load, as far as the files say (defaults not filled in). */
  readonly effective: Readonly<Record<string, unknown>>;
  /** In the order in which they are to be put in place: between two of them the kubelet would start with its local config. */
  readonly files: readonly ManagedFile[];
  /** The local config; absent where none is touched. */
  readonly base?: PlannedBase;
  /** Of the local config: files of ours are in place, whatever the state says. */
  readonly isOverOurs?: boolean;
}

/** The local config that a plan counts on. */
export interface PlannedBase {
  /** Hex SHA-256. */
  readonly sha256: string;
  readonly newer: NewerBase | null;
}

/** A local config that was put in the place of the one that a config was proven over, or all that is left of them. */
export interface NewerBase {
  /** Hex SHA-256. */
  readonly sha256: string;
  /** Over it the file would be another one, for all that is known. */
  readonly changes: boolean;
  /** The one that the config was proven over is lost. `kept`: another file of ours is in place, which may be over that one. */
  readonly lost?: 'kept' | 'gone';
}

/** Where a node is at rest; see `Installer.settle`. */
export interface Settled {
  /** What is installed; null for the local config. */
  readonly config: { readonly base?: string } | null;
  /** Local configs that are still needed, hex SHA-256. */
  readonly needed: readonly string[];
  /** One that is not to be put in its place, because a kubelet failed with it. */
  readonly refused: string | null;
}

/** Puts configs where the kubelet reads them at its start. Knows the local config and never loses it. */
export interface Installer {
  /**
   * What has to be on disk for a config (null: the local config alone). Reads only.
   * Throws `GitopsError` (`INSTALL_*`) with the reason if this node cannot have it.
   */
  plan(config: Installable | null): Promise<InstallPlan>;
  /** Whether every managed file is as the plan wants it, owner and mode included. */
  isInstalled(plan: InstallPlan): Promise<boolean>;
  /** The first managed file that is not as the plan wants it; undefined for none. */
  firstAmiss(plan: InstallPlan): Promise<string | undefined>;
  /**
   * What a kubelet that starts now would read otherwise than the plan wants, a phrase a field: `maxPods=33 instead of 110`. None where
   * the files there cannot be read. Never throws.
   */
  differences(plan: InstallPlan): Promise<readonly string[]>;
  /**
   * Makes it so, durably; the local config is put aside first, once. Safe to repeat after a crash at any point. A state
   * file of a resource manager that the kubelet would not start with is put aside in the same step, and the one that
   * was put aside for this config is put back. Limits of other units that an earlier config set, and this one does not, become
   * what they were; where systemd refuses, that is said, and keeps no config away.
   */
  install(plan: InstallPlan): Promise<void>;
  /**
   * Every file, state files of the managers included, as a fallback from `trial` to `to` has to restore it, for a guard
   * that knows nothing of plans. Call it before `trial` is installed. Remembers every named file as ours.
   */
  fallbackFiles(trial: InstallPlan, to: InstallPlan): Promise<readonly GuardedFile[]>;
  /**
   * Limits on units of systemd that a kubelet with `trial` sets and one with `to` does not: `system.slice MemoryMax` → what
   * it is now. To be asked before `trial` is installed; notes them.
   */
  fallbackLimits(trial: InstallPlan, to: InstallPlan): Promise<Readonly<Record<string, string>>>;
  /** Writes again what this process knows of the local config and found lost. @throws `GitopsError` where the disk refuses */
  writeBack(): Promise<void>;
  /** Forgets state files that were put aside: nothing is on trial any more. */
  forgetState(): Promise<void>;
  /** Whatever local config is in its place now is the one to go back to: nothing of ours was proven on this node. */
  takeAsLocal(): Promise<void>;
  /**
   * To be called when nothing is on trial: the way back to local leads to what the installed config was proven over.
   * Where the local config itself is installed, the newest one takes its place, which the kubelet reads at its next start.
   */
  settle(settled: Settled): Promise<void>;
}
