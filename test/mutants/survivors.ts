import type { Explained } from './verdict.ts';

/**
 * Mutants that no test notices, each with the reason why none should. Whoever changes the code finds out by `npm run mutants`
 * which of these are out of date: that fails as well as a survivor that is not here.
 */
export const SURVIVORS: Explained = {};
