import { isDeepStrictEqual } from 'node:util';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { isMap } from '#shared/contract/kubelet-config/walk.ts';

/** What of a pool's spec changes besides the config, as `rollout.maxUnavailable: 1 → 2`. */
export function specChanges(before: KubeletPoolSpec, after: KubeletPoolSpec): readonly string[] {
  return changesIn('', { ...before }, { ...after });
}

/** Selectors and lists are shown whole: a part of one says little. */
const WHOLE = new Set(['nodeSelector', 'layers']);

type Map_ = Readonly<Record<string, unknown>>;

function changesIn(prefix: string, before: Map_, after: Map_): readonly string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => {
    const [old, now] = [before[key], after[key]];
    if (isDeepStrictEqual(old, now)) return [];
    const path = `${prefix}${key}`;
    if (isMap(old) && isMap(now) && !WHOLE.has(key)) return changesIn(`${path}.`, old, now);
    return [`${path}: ${show(old)} → ${show(now)}`];
  });
}

const show = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'not set'));
