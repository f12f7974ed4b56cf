import fc from 'fast-check';

/**
 * The seed of everything that a test leaves to chance. It is always the same, so that a commit which passed once passes again;
 * `PROPERTY_SEED` chooses another one, and `npm run hunt` many.
 */
export const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_260_101);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: SEED });

/** fast-check with that seed: tests import it from here (`test/architecture/imports.test.ts`). */
export { fc };
