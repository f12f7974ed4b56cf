/** What one node answered, or why it did not. */
export type Asked<T> = { readonly answer: T } | { readonly error: unknown };

/**
 * Asks something of each name, at most so many at a time. Never rejects.
 *
 * @param onAsked hears of each, and how many have been asked; from the first time that it returns true, no more are asked
 * @returns by name, without those that were not asked
 */
export async function askEach<T>(
  names: readonly string[],
  mostAtOnce: number,
  ask: (name: string) => Promise<T>,
  onAsked: (asked: Asked<T>, count: number) => boolean,
): Promise<ReadonlyMap<string, Asked<T>>> {
  const found = new Map<string, Asked<T>>();
  const left = names.values();
  let isEnough = false;
  const work = async (): Promise<void> => {
    for (const name of left) {
      if (isEnough) return;
      const asked: Asked<T> = await ask(name).then(
        (answer) => ({ answer }),
        (error: unknown) => ({ error }),
      );
      found.set(name, asked);
      isEnough ||= onAsked(asked, found.size);
    }
  };
  await Promise.all(Array.from({ length: mostAtOnce }, work));
  return found;
}
