import type { WindowSpec, WindowsSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { memo } from './memo.ts';
import { readWindow, type Window } from './read-window.ts';
import { type Span, spanAt } from './span.ts';

/** A window as it is at one moment; `window` is undefined for an unreadable one. */
export interface WindowNow {
  readonly spec: WindowSpec;
  readonly window: Window | undefined;
  readonly span: Span;
}

/** All layers at one moment. A layer without `allow` allows always. */
export interface WindowsView {
  readonly open: boolean;
  readonly allow: readonly (readonly WindowNow[])[];
  readonly deny: readonly WindowNow[];
}

/** How layers of windows stand at a moment. Pure. */
export function windowsViewAt(layers: readonly WindowsSpec[], now: Millis): WindowsView {
  const seen = (spec: WindowSpec): WindowNow => {
    const window = windowOf(spec);
    return { spec, window, span: window === undefined ? UNREADABLE : spanAt(window, now) };
  };
  const allow = layers.filter((layer) => layer.allow.length > 0).map((layer) => layer.allow.map(seen));
  const deny = layers.flatMap((layer) => layer.deny.map(seen));
  const denied = deny.some(({ window, span }) => window === undefined || span.on);
  return { open: !denied && allow.every((layer) => layer.some(({ span }) => span.on)), allow, deny };
}

const UNREADABLE: Span = { on: false, until: null };

const MOST_KEPT = 256;
const windows = new Map<string, Window | undefined>();

/** Windows are read once: the same few are asked for at every look at the fleet. */
function windowOf(spec: WindowSpec): Window | undefined {
  const key = JSON.stringify([spec.cron, spec.duration, spec.timeZone]);
  return memo(windows, MOST_KEPT, key, () => readWindow(spec));
}
