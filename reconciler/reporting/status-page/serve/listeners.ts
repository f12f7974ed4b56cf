import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';

/** A browser that wants to hear when there is something new. */
export interface Listener {
  /** Sends text. @returns whether what was sent before has left: false for one that reads too slowly */
  send(text: string): boolean;
  /** Ends the connection; its listener hears of that as of any other end. */
  drop(): void;
}

export interface Listeners {
  /** @returns what ends it, or null where there are too many already */
  join(listener: Listener): (() => void) | null;
  /** There may be something new. Cheap; a burst makes one message. */
  notify(): void;
  readonly count: number;
  /** Tells until the signal aborts, then drops everybody. */
  run(signal: AbortSignal): Promise<void>;
}

interface ListenersOptions {
  readonly clock: Clock;
  readonly most: number;
  /** Shortest time between two messages. */
  readonly gapMs: Millis;
  /** Longest time between two messages: proxies close what is silent, and an old picture has to be seen as one. */
  readonly beatMs: Millis;
}

/** The message that there may be something new. The browser requests its page again, and mostly gets 304. */
export const UPDATE_EVENT = 'event: news\ndata:\n\n';

export function createListeners({ clock, most, gapMs, beatMs }: ListenersOptions): Listeners {
  const all = new Set<Listener>();
  const wakeUps = createWakeUps(clock);

  function tell(): void {
    for (const listener of all) {
      if (listener.send(UPDATE_EVENT)) continue;
      all.delete(listener);
      listener.drop();
    }
  }

  return {
    join(listener) {
      if (all.size >= most) return null;
      all.add(listener);
      return () => void all.delete(listener);
    },
    notify: wakeUps.poke,
    get count() {
      return all.size;
    },
    async run(signal) {
      while (!signal.aborted) {
        await wakeUps.next(beatMs, signal);
        if (!signal.aborted) tell();
        await clock.sleep(gapMs, signal);
      }
      for (const listener of all) listener.drop();
      all.clear();
    },
  };
}
