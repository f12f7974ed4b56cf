/** Whether the kubelet answers `ok` on its healthz port. */
export type Health =
  | { readonly health: 'ok' }
  | { readonly health: 'failing'; readonly reason: string }
  /** Nothing listens, or no answer in time. */
  | { readonly health: 'down'; readonly reason: string };

/** The configuration that the running kubelet reports on `/configz`. */
export type RunningConfig =
  | { readonly seen: true; readonly config: Readonly<Record<string, unknown>> }
  /**
   * Not to be read now, or not for us (`forbidden`: the kubelet's authorizer says no; `untrusted`: its certificate does not prove that it is
   * the kubelet; `off`: it serves no API); never by itself a failure.
   */
  | {
      readonly seen: false;
      readonly why: 'down' | 'forbidden' | 'untrusted' | 'off' | 'error';
      readonly reason: string;
    };

/** Where the kubelet is to be found on this node; follows from the config it runs. */
export interface KubeletAddress {
  /** null where the healthz server is switched off (`healthzPort: 0`). */
  readonly healthz: { readonly host: string; readonly port: number } | null;
  /** The authenticated API; null if the kubelet serves none. */
  readonly api: { readonly host: string; readonly port: number } | null;
  /** Files on the host that hold the certificate it serves with, the likeliest first; absent before the first look. */
  readonly servingCerts?: readonly string[];
}

/**
 * How many pods the running kubelet evicted or refused since it was started, by what it did and why: `evicted memory.available`,
 * `refused OutOfmemory`.
 */
export type PodEvictions = Readonly<Record<string, number>>;

/** What `/metrics` has counted since the kubelet was started: sums over all labels, by the name of the metric; see `countersIn`. */
export type KubeletCounters = Readonly<Record<string, number>>;

/** Looks at the running kubelet from outside. Never throws for what the kubelet does; every call ends within its timeout. */
export interface KubeletProbe {
  health(address: KubeletAddress, signal: AbortSignal): Promise<Health>;
  runningConfig(address: KubeletAddress, signal: AbortSignal): Promise<RunningConfig>;
  /** null while it is unreadable. */
  podHarm(address: KubeletAddress, signal: AbortSignal): Promise<PodEvictions | null>;
  /** null while they are unreadable. */
  counters(address: KubeletAddress, signal: AbortSignal): Promise<KubeletCounters | null>;
}
