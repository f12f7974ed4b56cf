import fc from 'fast-check';

/**
 * The seed of everything that a test leaves to chance. It is always the same, so that a commit which passed once passes again;
 * `PROPERTY_SEED` chooses another one, and `npm run hunt` many.
 */
export const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_260_101);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });

/** fast-check with that seed: tests import it from here (`test/architecture/imports.test.ts`). */
export { fc };

type Law<Ts extends [unknown, ...unknown[]], R> = [
  ...arbitraries: { [K in keyof Ts]: fc.Arbitrary<Ts[K]> },
  law: (...values: Ts) => R,
];

/** Holds a law to a hundred examples of what the arbitraries before it make. */
export const forAll = <Ts extends [unknown, ...unknown[]]>(...law: Law<Ts, boolean | void>): void =>
  fc.assert(fc.property(...law));

/** The same to so many examples. */
export const forAllOf = <Ts extends [unknown, ...unknown[]]>(numRuns: number, ...law: Law<Ts, boolean | void>): void =>
  fc.assert(fc.property(...law), { numRuns });

/** The same for what takes time. */
export const forAllAsyncOf = <Ts extends [unknown, ...unknown[]]>(
  numRuns: number,
  ...law: Law<Ts, Promise<boolean | void>>
): Promise<void> => fc.assert(fc.asyncProperty(...law), { numRuns });
