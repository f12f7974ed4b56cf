import { after, describe, it, type TestContext } from 'node:test';

/**
 * One thing that the kubelet's own dynamic configuration did, or was expected to do, and what becomes of it here. The
 * numbers count through what its authors tested (1 to 178) and what they should have (179 to 197). Each is a scenario
 * in one of these files, or is in `told-elsewhere.ts` or `left-out.ts`.
 */
export interface Scenario {
  readonly dkc: number;
  /** A sentence about this project, not about the original. */
  readonly title: string;
  readonly see: (t: TestContext) => Promise<void> | void;
}

/**
 * Runs the scenarios, but not for the test that counts them, which only wants the list.
 *
 * @param end what all of them have in common ends with it
 */
export function see(
  about: string,
  scenarios: readonly Scenario[],
  end: () => Promise<void> = () => Promise.resolve(),
): readonly Scenario[] {
  if (process.argv[1]?.endsWith('/dkc/coverage.test.ts') === true) return scenarios;
  describe(about, () => {
    after(end);
    for (const { dkc, title, see: look } of scenarios) it(`dkc ${dkc}: ${title}`, (t) => look(t));
  });
  return scenarios;
}

/** One scenario for each row, numbered on from the first. */
export function table<Row>(
  first: number,
  rows: readonly Row[],
  title: (row: Row) => string,
  look: (row: Row) => Promise<void> | void,
): readonly Scenario[] {
  return rows.map((row, index) => ({ dkc: first + index, title: title(row), see: () => look(row) }));
}
