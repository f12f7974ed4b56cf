import type { WindowSpec, WindowsSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { readWindow, type Window } from './read-window.ts';
import { sayClosed, sayOpen } from './say.ts';
import { HORIZON_MS, type Span, spanAt } from './span.ts';

/** Whether changes may begin now. */
export interface WindowsState {
  readonly open: boolean;
  /** Which window, and until or from when in its own time zone and in UTC; for people. */
  readonly because: string;
  /** The next moment at which `open` may change; null where it does not within 400 days. */
  readonly changesAt: Millis | null;
}

/** A window as it is at one moment; `window` is undefined where it cannot be read. */
export interface Seen {
  readonly spec: WindowSpec;
  readonly window: Window | undefined;
  readonly span: Span;
}

/** All layers at one moment. A layer without `allow` allows always. */
export interface View {
  readonly open: boolean;
  readonly allow: readonly (readonly Seen[])[];
  readonly deny: readonly Seen[];
}

/** How often a boundary may turn out to change nothing before it is given out nevertheless. */
const MOST_BOUNDARIES = 16;

/**
 * Several layers of windows at once, a cluster's and a pool's: each has to allow, and a window of any that denies closes.
 * A window that cannot be read (a time zone that this Node does not know) closes as well. Pure.
 */
export function windowsState(windows: readonly (WindowsSpec | null | undefined)[], now: Millis): WindowsState {
  const layers = windows.filter((layer) => layer !== null && layer !== undefined);
  const view = viewAt(layers, now);
  const changesAt = nextChange(layers, view, now);
  return { open: view.open, because: view.open ? sayOpen(view) : sayClosed(view), changesAt };
}

function viewAt(layers: readonly WindowsSpec[], now: Millis): View {
  const seen = (spec: WindowSpec): Seen => {
    const window = windowOf(spec);
    return { spec, window, span: window === undefined ? UNREADABLE : spanAt(window, now) };
  };
  const allow = layers.filter((layer) => layer.allow.length > 0).map((layer) => layer.allow.map(seen));
  const deny = layers.flatMap((layer) => layer.deny.map(seen));
  const denied = deny.some(({ window, span }) => window === undefined || span.on);
  return { open: !denied && allow.every((layer) => layer.some(({ span }) => span.on)), allow, deny };
}

const UNREADABLE: Span = { on: false, until: null, ends: true };

function nextChange(layers: readonly WindowsSpec[], first: View, now: Millis): Millis | null {
  let boundary = boundaryOf(first);
  for (let looked = 0; looked < MOST_BOUNDARIES; looked += 1) {
    if (boundary === null || boundary > now + HORIZON_MS) return null;
    const view = viewAt(layers, boundary);
    if (view.open !== first.open) return boundary;
    boundary = boundaryOf(view);
  }
  return boundary;
}

/**
 * Until when nothing can change: while one denies, until it ends; while a layer allows nothing, until it does; and while it is
 * open, until one denies or a layer has no window left.
 */
function boundaryOf({ open, allow, deny }: View): Millis | null {
  const until = ({ span }: Seen): Millis => span.until ?? Infinity;
  const ends = (layer: readonly Seen[]): Millis => Math.max(...layer.filter(({ span }) => span.on).map(until));
  const begins = (layer: readonly Seen[]): Millis => Math.min(...layer.map(until));
  const moment = open
    ? Math.min(...deny.map(until), ...allow.map(ends))
    : Math.max(
        ...deny.filter(({ window, span }) => window === undefined || span.on).map(until),
        ...allow.filter((layer) => layer.every(({ span }) => !span.on)).map(begins),
      );
  return Number.isFinite(moment) ? moment : null;
}

const MOST_KEPT = 256;
const kept = new Map<string, Window | undefined>();

/** Windows are read once: the same few are asked for at every look at the fleet. */
function windowOf(spec: WindowSpec): Window | undefined {
  const key = JSON.stringify([spec.cron, spec.duration, spec.timeZone]);
  if (kept.has(key)) return kept.get(key);
  if (kept.size >= MOST_KEPT) kept.clear();
  const window = readWindow(spec);
  kept.set(key, window);
  return window;
}
