import type { Credential } from '#shared/kube/kube-credentials.ts';
import type { Millis } from '#shared/runtime/clock.ts';

/** What the process of a simulated cluster is asked over its IPC channel; one answer each, in any order. */
export interface Asks {
  begin: {
    readonly asks: FleetOptions;
    readonly answer: { readonly apiUrl: string; readonly gitUrl: string };
  };
  commit: { readonly asks: { readonly files: Readonly<Record<string, string>> }; readonly answer: string };
  progress: { readonly asks: Record<string, never>; readonly answer: Progress };
  /** Calls of the reconciler since they were last asked for, of the sandbox's API server: `patch kubeletnodes` to a count. */
  calls: { readonly asks: Record<string, never>; readonly answer: Readonly<Record<string, number>> };
  /** From now on every Node and every agent gives a sign of life this often; 0 for never. */
  heartbeats: { readonly asks: { readonly everyMs: Millis }; readonly answer: null };
  /** Whether the git server answers. */
  git: { readonly asks: { readonly reachable: boolean }; readonly answer: null };
}

export interface TrialManners {
  /** From hearing of an assignment until the kubelet is up with it. */
  readonly restartMs: Millis;
  /** For how long a kubelet has been healthy when its agent says so, once in a trial. */
  readonly probationMs: Millis;
}

export interface FleetOptions {
  readonly nodes: number;
  readonly pools: number;
  /** From hearing of something to reporting it. */
  readonly agentStepMs: Millis;
  /** Trials take their time. Default: they end with the next step. */
  readonly trials?: TrialManners;
  /** A bare repository on the disk. Default: in memory. */
  readonly gitDirectory?: string;
  /** An API server that is there already. Default: the sandbox's own. */
  readonly server?: { readonly url: string; readonly credential: Credential };
}

export interface Progress {
  /** Nodes that run what they were told, and have proven it. */
  readonly settled: number;
  /** Pools that are settled, by the commit that they settled on. */
  readonly pools: Readonly<Record<string, number>>;
}

export type Ask = keyof Asks;

export interface Question<A extends Ask = Ask> {
  readonly id: number;
  readonly ask: A;
  readonly of: Asks[A]['asks'];
}

export type Answer =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: string };
