/**
 * Gives everything dead back at the price of a pause: 100 ms in a reconciler of ten thousand nodes. V8 itself collects as its heap
 * fills. Does nothing in a program that was started without `--expose-gc`.
 */
export const forceGc = (): void => globalThis.gc?.({ type: 'major' });

/**
 * The same for a program that now has nothing to do: again until nothing is won, and empty pages go back to the system, which V8
 * otherwise keeps for later. Takes 30 ms of CPU in an agent.
 */
export const forceFullGc = (): void => globalThis.gc?.({ type: 'major', flavor: 'last-resort' });
