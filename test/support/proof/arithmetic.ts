import type { Amount } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';

/** What the laws count with: written again here, so that a mistake of the planner is not theirs as well. */
export const shareOf = (amount: Amount, nodes: number): number =>
  Math.min(
    nodes,
    Math.max(1, typeof amount === 'number' ? amount : Math.ceil((Number.parseInt(amount, 10) * nodes) / 100)),
  );

export const boundOf = (amount: Amount, nodes: number): number => {
  if (typeof amount === 'number') return amount;
  const share = Math.floor((Number.parseInt(amount, 10) * nodes) / 100);
  return Number.parseInt(amount, 10) === 0 ? 0 : Math.max(1, share);
};

/** At least one. */
export const thresholdOf = (amount: Amount, nodes: number): number =>
  Math.max(1, typeof amount === 'number' ? amount : Math.ceil((Number.parseInt(amount, 10) * nodes) / 100));

/** Of `90s`, `30m` or `2h`. */
export function millisOf(text: string): Millis {
  const unit = { s: 1_000, m: 60_000, h: 3_600_000 }[text.at(-1) ?? ''];
  const count = Number(text.slice(0, -1));
  if (unit === undefined || Number.isNaN(count)) throw new Error(`${text} is not a duration of these worlds`);
  return count * unit;
}
