import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';

/** A config ready to be installed: the payload's exact bytes and how they meet the local config. */
export interface Installable {
  readonly payload: string;
  readonly apply: ApplyMode;
}

/** `drop-in`: a file in the kubelet's `--config-dir`, over the untouched local file. `file`: the kubelet's config file itself. */
export type InstallMethod = 'drop-in' | 'file';

/** What the managed files on the node would make the kubelet run at its next start. */
export interface InstallPlan {
  readonly method: InstallMethod;
  /** Whole KubeletConfiguration that the kubelet would load, as far as the files say (defaults not filled in). */
  readonly effective: Readonly<Record<string, unknown>>;
  /** The files as they have to be: bytes, or null for a file that must not be there. */
  readonly files: readonly { readonly path: string; readonly bytes: string | null }[];
}

/** Puts configs where the kubelet reads them at its start. Knows the local config and never loses it. */
export interface Installer {
  /**
   * What has to be on disk for a config (null: the local config alone). Reads only.
   * Throws `GitopsError` (`INSTALL_*`) where it cannot be installed on this node, with the reason.
   */
  plan(config: Installable | null): Promise<InstallPlan>;
  /** Whether every managed file is as the plan wants it, owner and mode included. */
  isInstalled(plan: InstallPlan): Promise<boolean>;
  /** Makes it so, durably; the local config is put aside first, once. Safe to repeat after a crash at any point. */
  install(plan: InstallPlan): Promise<void>;
}
