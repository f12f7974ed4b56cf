/** Events between who makes them and who reads them, one reader. */
export interface EventQueue<E> {
  readonly add: (event: E) => void;
  /** What was added before is still read. */
  readonly end: () => void;
  /** Ends with `end`, and with the signal. */
  readonly items: () => AsyncGenerator<E, void, void>;
}

export function createEventQueue<E>(signal: AbortSignal): EventQueue<E> {
  const waiting: E[] = [];
  let ended = false;
  let wake = (): void => undefined;
  return {
    add(event) {
      waiting.push(event);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    async *items() {
      const stop = (): void => wake();
      signal.addEventListener('abort', stop);
      try {
        while (!signal.aborted) {
          const next = waiting.shift();
          if (next !== undefined) yield next;
          else if (ended) return;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
  };
}
