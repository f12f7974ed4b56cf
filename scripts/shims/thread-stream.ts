/** In place of pino's worker threads, in a program that never starts one: its log goes to standard output. */
export const workers: readonly never[] = [];
