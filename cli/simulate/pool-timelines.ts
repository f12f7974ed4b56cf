import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import type { Simulation } from './simulate.ts';

/** The way of one pool through the simulated time. */
export interface Lane {
  readonly pool: string;
  readonly nodes: number;
  readonly started: number;
  readonly proved: number;
  readonly failed: number;
  /** How many refused the config: their kubelets never heard of it. */
  readonly refused: number;
  /** How many run again what they ran before, or their local configs. */
  readonly returned: number;
  readonly phase: string;
  readonly message: string;
  /** Milliseconds from the start. `doneAt` is absent for waves that were not done. */
  readonly waves: readonly {
    readonly name: string;
    readonly nodes: number;
    readonly startedAt?: Millis;
    readonly doneAt?: Millis;
    /** When a person was asked after it, and approved. */
    readonly pausedAt?: Millis;
    readonly approvedAt?: Millis;
  }[];
  /** How many nodes had proven the config, in steps of time. */
  readonly curve: readonly { readonly at: Millis; readonly proved: number }[];
  /** When a node failed. */
  readonly failures: readonly { readonly at: Millis; readonly node: string }[];
}

/** One lane for every pool in which something happened or waits. */
export function lanesOf({ start, events, pools }: Simulation): readonly Lane[] {
  return [...pools].flatMap(([pool, status]) => {
    const own = events.filter((event) => event.pool === pool);
    if (own.length === 0 && status.phase !== 'Waiting' && status.phase !== 'Halted') return [];
    const count = (kind: string): number => own.filter(({ event }) => event === kind).length;
    const isLeft = count('returned') > 0 && (status.counts?.nodes ?? 0) === 0;
    let proved = 0;
    const curve = own
      .filter(({ event }) => event === (isLeft ? 'returned' : 'proved'))
      .map(({ at }) => ({ at: at - start, proved: (proved += 1) }));
    const failures = own.filter(({ event }) => event === 'failed').map(({ at, node }) => ({ at: at - start, node }));
    return [
      {
        pool,
        nodes: isLeft ? count('started') : (status.counts?.nodes ?? 0),
        started: count('started'),
        proved: count('proved'),
        failed: failures.length,
        refused: count('refused'),
        returned: count('returned'),
        phase: status.phase ?? '',
        message: status.message ?? '',
        waves: wavesOf(status, start),
        curve,
        failures,
      },
    ];
  });
}

function wavesOf({ rollout }: KubeletPoolStatus, start: Millis): Lane['waves'] {
  const after = (timestamp: string | undefined): Millis | undefined => {
    const at = fromTimestamp(timestamp);
    return at === undefined ? undefined : Math.max(0, at - start);
  };
  return (rollout?.waves ?? []).map(({ name, nodes, ...times }) => {
    const shown = (['startedAt', 'doneAt', 'pausedAt', 'approvedAt'] as const).flatMap((key) => {
      const at = after(times[key]);
      return at === undefined ? [] : [[key, at] as const];
    });
    return { name, nodes, ...Object.fromEntries(shown) };
  });
}
