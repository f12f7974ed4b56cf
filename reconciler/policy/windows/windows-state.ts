import type { WindowsSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { describeClosed, describeOpen } from './describe-windows.ts';
import { HORIZON_MS } from './span.ts';
import { type WindowNow, type WindowsView, windowsViewAt } from './windows-view.ts';

/** Whether changes may begin now. */
export interface WindowsState {
  readonly open: boolean;
  /** Which window, and until or from when in its own time zone and in UTC; for people. */
  readonly because: string;
  /** The next moment at which `open` may change; null for never within 400 days. */
  readonly changesAt: Millis | null;
}

/** How often a boundary may turn out to change nothing before it is given out nevertheless. */
const MOST_BOUNDARIES = 16;

/**
 * Several layers of windows at once, a cluster's and a pool's: each has to allow, and a window of any that denies closes.
 * A window that cannot be read (a time zone that this Node does not know) closes as well. Pure.
 */
export function windowsState(windows: readonly (WindowsSpec | null | undefined)[], now: Millis): WindowsState {
  const layers = windows.filter((layer) => layer !== null && layer !== undefined);
  const view = windowsViewAt(layers, now);
  const changesAt = nextChange(layers, view, now);
  return { open: view.open, because: view.open ? describeOpen(view) : describeClosed(view), changesAt };
}

function nextChange(layers: readonly WindowsSpec[], first: WindowsView, now: Millis): Millis | null {
  let boundary = boundaryOf(first);
  for (let looked = 0; boundary <= now + HORIZON_MS; looked += 1) {
    if (looked === MOST_BOUNDARIES) return boundary;
    const view = windowsViewAt(layers, boundary);
    if (view.open !== first.open) return boundary;
    boundary = boundaryOf(view);
  }
  return null;
}

/**
 * Until when nothing can change: while one denies, until it ends; while a layer allows nothing, until it does; and while it is
 * open, until one denies or a layer has no window left. Infinity if no end is known.
 */
function boundaryOf({ open, allow, deny }: WindowsView): Millis {
  const until = ({ span }: WindowNow): Millis => span.until ?? Infinity;
  const ends = (layer: readonly WindowNow[]): Millis => Math.max(...layer.filter(({ span }) => span.on).map(until));
  const begins = (layer: readonly WindowNow[]): Millis => Math.min(...layer.map(until));
  return open
    ? Math.min(...deny.map(until), ...allow.map(ends))
    : Math.max(
        ...deny.filter(({ window, span }) => window === undefined || span.on).map(until),
        ...allow.filter((layer) => layer.every(({ span }) => !span.on)).map(begins),
      );
}
