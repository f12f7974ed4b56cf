import { isDeepStrictEqual } from 'node:util';
import { isMap } from '../runtime/maps.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The JSON merge patch (RFC 7396) that turns one object into another: keys that are gone become null, lists are replaced
 * whole. Values that are null in `after` look like absent ones; the contract's types use absence.
 *
 * @returns null where nothing differs
 */
export function mergeDiff(before: Json, after: Json): Record<string, unknown> | null {
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const from = before[key];
    const to = after[key];
    if (isDeepStrictEqual(from, to)) continue;
    if (to === undefined) patch[key] = null;
    else patch[key] = isMap(from) && isMap(to) ? mergeDiff(from, to) : to;
  }
  return Object.keys(patch).length === 0 ? null : patch;
}
