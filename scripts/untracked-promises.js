import asyncHooks from 'node:async_hooks';

/**
 * Preloaded into the processes of `npm test`, before the test runner. That one follows every promise of a test, to say of an error
 * that was not caught which test it comes from. Tests make millions of promises, and following them took a quarter of all CPU time.
 * Without it, such an error still fails the process, and its message is printed; `npx node --test FILE` says which test it comes from.
 */
const { createHook } = asyncHooks;
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
