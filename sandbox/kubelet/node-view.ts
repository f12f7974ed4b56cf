import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#shared/runtime/clock.ts';
import type { NodeReport, Timing } from './kubelet-options.ts';
import type { ProcessState } from './process.ts';

/** What the control plane knows of the node: what the kubelet said last, until it has said nothing for too long. */
export interface NodeView {
  /** @param life null while there is no process */
  follow(life: ProcessState | null): void;
  end(): void;
}

export interface NodeViewOptions {
  readonly clock: Clock;
  readonly timing: Timing;
  readonly facts: () => Omit<NodeReport, keyof Said>;
  readonly report: (report: NodeReport) => void;
}

type Said = Pick<NodeReport, 'ready' | 'reason' | 'message'>;

const READY: Said = { ready: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
const NOT_READY = { ready: 'False', reason: 'KubeletNotReady' } as const;
const LOST: Said = { ready: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };

export function createNodeView({ clock, timing, facts, report }: NodeViewOptions): NodeView {
  let speaking: Said | null = null;
  let turn = new AbortController();

  const beat = async (said: Said, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      report({ ...said, ...facts() });
      await clock.sleep(timing.heartbeatMs, signal);
    }
  };
  const getLost = async (signal: AbortSignal): Promise<void> => {
    await clock.sleep(timing.lostMs, signal);
    if (!signal.aborted) report({ ...LOST, ...facts() });
  };

  return {
    follow(life) {
      const said = sayingOf(life);
      // A kubelet that stays silent through restarts is silent since it last spoke.
      if (isDeepStrictEqual(said, speaking)) return;
      speaking = said;
      turn.abort();
      turn = new AbortController();
      void (said === null ? getLost(turn.signal) : beat(said, turn.signal));
    },
    end: () => turn.abort(),
  };
}

/** null: it says nothing. */
function sayingOf(life: ProcessState | null): Said | null {
  if (life?.stage === 'ready')
    return life.fault?.fault === 'not-ready' ? { ...NOT_READY, message: life.fault.reason } : READY;
  return null;
}
