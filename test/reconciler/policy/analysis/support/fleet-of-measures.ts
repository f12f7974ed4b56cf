import type { MeasuredWindow, MeasureName, Measures } from '#shared/contract/api/measures.ts';

/** What a config does to the measures of a node. */
export type Effect = (values: Record<MeasureName, number>) => Partial<Record<MeasureName, number>>;

/** What the agents of a pool tell some minutes after a mark. */
export interface Look {
  readonly canaries: readonly Measures[];
  readonly waiting: readonly Measures[];
}

/**
 * Two looks at a pool whose nodes differ and never stand still, ten minutes apart: a workload of its own on each node, bursts of errors,
 * evictions and slow pods that no config brings, and in one pool of four a deployment that all nodes feel from the mark on.
 *
 * @param moved share of nodes that get another workload with the mark, and keep it over both looks
 */
export function looksAt(
  size: { readonly canaries: number; readonly waiting: number },
  effect: Effect,
  random: () => number,
  moved = 0,
): readonly [Look, Look] {
  const isBusy = random() < 0.25;
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const about = (middle: number, spread: number): number => middle * Math.exp(spread * normal());
  const node = (isCanary: boolean): readonly [Measures, Measures] => {
    const own = { podStart: about(3, 0.5), relist: about(0.08, 0.6), cpu: about(0.2, 0.5), errors: about(1, 1) };
    const values = (busy: boolean): Record<MeasureName, number> => ({
      evictions: random() < 0.01 ? Math.ceil(6 * random()) : 0,
      oomKills: random() < 0.005 ? Math.ceil(3 * random()) : 0,
      runtimeErrors: Math.round(about(own.errors, 0.7)) + (random() < 0.02 ? 60 * random() : 0),
      podStart: about(own.podStart * (busy ? 2.2 : 1), 0.25) + (random() < 0.01 ? 30 * random() : 0),
      relist: about(own.relist * (busy ? 1.3 : 1), 0.2),
      cpu: about(own.cpu * (busy ? 1.6 : 1), 0.2),
      reserved: 0.08,
    });
    const nothing: Effect = () => ({});
    const isMoved = moved > 0 && random() < moved;
    const [more, errors] = isMoved ? [about(1.6, 0.3), random() < 0.2 ? 30 : 0] : [1, 0];
    const workload: Effect = ({ cpu, podStart, relist, runtimeErrors }) => ({
      cpu: cpu * more,
      podStart: podStart * more,
      relist: relist * more,
      runtimeErrors: runtimeErrors + errors,
    });
    const window = (sha256: string, busy: boolean, does: Effect, other: Effect = nothing): MeasuredWindow => {
      const alone = values(busy);
      const usual = { ...alone, ...other(alone) };
      return { sha256, seconds: 540, values: { ...usual, ...does(usual) } };
    };
    const before = window('old', false, nothing);
    const look = (): Measures => ({
      mark: 'new',
      before,
      now: isCanary ? window('new', isBusy, effect, workload) : window('old', isBusy, nothing, workload),
    });
    return [look(), look()];
  };
  const canaries = Array.from({ length: size.canaries }, () => node(true));
  const waiting = Array.from({ length: size.waiting }, () => node(false));
  return [
    { canaries: canaries.map(([first]) => first), waiting: waiting.map(([first]) => first) },
    { canaries: canaries.map(([, second]) => second), waiting: waiting.map(([, second]) => second) },
  ];
}
