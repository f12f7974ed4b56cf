/** In place of `node:worker_threads`, in a program that never starts a worker. */
export const isMainThread = true;
