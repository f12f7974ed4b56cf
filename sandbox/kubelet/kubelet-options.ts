import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { SimulatedHost } from './host.ts';
import type { NodeResources } from './node-resources.ts';

type Config = Readonly<Record<string, unknown>>;

/** How long things take. The defaults are quick, for people who watch; a real kubelet needs six seconds for a restart. */
export interface Timing {
  /** From the order to stop until the process is gone. */
  readonly stopMs: Millis;
  /** From the start of the process until it has read its config; what it cannot live with ends it then. */
  readonly loadMs: Millis;
  /** From then on until it is healthy. */
  readonly startMs: Millis;
  /** From healthy until the Node is Ready. */
  readonly readyMs: Millis;
  /** The unit's RestartSec. */
  readonly restartMs: Millis;
  /** Between two signs of life on the Node. */
  readonly heartbeatMs: Millis;
  /** Without a sign of life for that long the control plane takes the Node for lost. */
  readonly lostMs: Millis;
  /** How long the machine is off when it is rebooted. */
  readonly rebootMs: Millis;
}

export const QUICK: Timing = {
  stopMs: 20,
  loadMs: 50,
  startMs: 150,
  readyMs: 50,
  restartMs: 300,
  heartbeatMs: 500,
  lostMs: 2000,
  rebootMs: 500,
};

/** Something that goes wrong with a config though nothing in the config says so. */
export type Fault =
  /** The process ends, `afterMs` after it was healthy. */
  | { readonly fault: 'crash'; readonly afterMs: Millis; readonly reason: string }
  /** The process is there and never answers. */
  | { readonly fault: 'hang' }
  /** healthz says no. */
  | { readonly fault: 'unhealthy'; readonly reason: string }
  /** All seems well, but the Node does not become Ready. */
  | { readonly fault: 'not-ready'; readonly reason: string };

/** What the control plane would know of the node. */
export interface NodeReport {
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** `v1.34.2`, of the kubelet that reported last. */
  readonly kubeletVersion: string;
  readonly bootId: string;
  /** Its port on 127.0.0.1 (`daemonEndpoints.kubeletEndpoint.Port`); undefined for none. */
  readonly port: number | undefined;
  /** undefined until it was ready for the first time. */
  readonly resources: NodeResources | undefined;
}

export interface SimulatedKubeletOptions {
  /** For its files: made here, with `config.yaml`, `config.d` and the managers' state files in it. */
  readonly directory: string;
  /** `v1.34.2`. */
  readonly version: string;
  /** What the node was provisioned with, YAML or JSON; default: a minimal config. A file that is there stays. */
  readonly localConfig?: string;
  /** Whether it is started with `--config-dir`. Default true; kubelets before 1.28 do not know it. */
  readonly readsDropIns?: boolean;
  readonly host?: Partial<SimulatedHost>;
  readonly timing?: Partial<Timing>;
  /** How often the agent looks in case it missed something; default: a second. See `KubeletService`. */
  readonly pollMs?: Millis;
  /** Default: the system's own. */
  readonly clock?: Clock;
  /** `http` (the default): real ports on 127.0.0.1. `direct`: none, for many kubelets in one process. */
  readonly endpoints?: 'http' | 'direct';
  /** Whether its authorizer lets the agent read /configz. Default true. */
  readonly showsConfigz?: boolean;
  /** Asked at each start, with the config and its defaults. */
  readonly fault?: (config: Config) => Fault | null;
  /** Called when the report changes, and as a sign of life. */
  readonly onReport?: (report: NodeReport) => void;
}
