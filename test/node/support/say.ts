import type { TestContext } from 'node:test';

/** Prints how long something took, for information: the figures depend on the machine. */
export function say(t: TestContext | { diagnostic: (message: string) => void }, what: string, started: number): void {
  t.diagnostic(`${what}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
