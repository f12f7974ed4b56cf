import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { type Kube, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Fleet } from '../../policy/fleet.ts';
import { readSourceState, type SourceState } from '../notes/source-state.ts';
import { passResultFromCluster } from '../pass-result-from-cluster.ts';
import type { PassResult } from '../pass-result.ts';

export interface StandbyViewOptions {
  readonly kube: Kube;
  readonly namespace: string;
  /** null until everything was seen once. */
  readonly fleet: () => Fleet | null;
  /** Whether this process makes rounds of its own. */
  readonly leads: () => boolean;
  /** The record was read: there may be something new. */
  readonly onLook: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a process that waits for the lead shows: the cluster as its objects and the leading one's record have it. */
interface StandbyView {
  /** null before the first look. As old as the last look that went through. */
  round(): PassResult | null;
  run(signal: AbortSignal): Promise<void>;
}

/** The record is one small object, and the waiting ones ask for the Lease more often than this. */
const LOOK_EVERY_MS: Millis = 10_000;
/** While there is nothing to show yet. */
const FIRST_LOOK_MS: Millis = 500;

export function createStandbyView({
  kube,
  namespace,
  fleet,
  leads,
  onLook,
  clock,
  log,
}: StandbyViewOptions): StandbyView {
  let failing = false;
  let seen: { readonly source: SourceState; readonly at: Millis } | null = null;

  async function look(signal: AbortSignal): Promise<void> {
    // Watches may go on for a while after the API server became unreachable: what is shown is as old as the last answer.
    if (leads() || fleet() === null) return;
    try {
      const object = await kube.get<KubeletSource>({ resource: KUBELET_SOURCES }, SOURCE_NAME, signal);
      seen = { source: readSourceState(object), at: clock.now() };
      failing = false;
      onLook();
    } catch (error) {
      // The picture gets old, and says so itself; only the log says why. Nothing else may come of a page.
      if (!failing && !signal.aborted) log.warn({ err: error }, 'the record of the leading reconciler cannot be read');
      failing = true;
    }
  }

  return {
    round() {
      const present = fleet();
      return seen === null || present === null ? null : passResultFromCluster(present, seen.source, namespace, seen.at);
    },
    async run(signal) {
      while (!signal.aborted) {
        await look(signal);
        await clock.sleep(seen === null ? FIRST_LOOK_MS : LOOK_EVERY_MS, signal);
      }
    },
  };
}
