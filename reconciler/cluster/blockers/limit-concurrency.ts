/** @returns does a piece of work at once while fewer than `most` are being done, and otherwise when those before it have ended */
export function limitConcurrency(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    if (busy < most) busy += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The next call takes the place over, so that no other can take it in between.
      if (next === undefined) busy -= 1;
      else next();
    }
  };
}
