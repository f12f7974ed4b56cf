import { describe, it } from 'node:test';

interface Options {
  /** What is missing, and what nobody has proven without it; false where nothing is. */
  readonly skip: string | false | undefined;
  readonly concurrency?: number | boolean;
}

/**
 * `describe` for a suite that may be skipped. The test runner counts no suites: one that it skips is not among the skipped tests of
 * its closing lines. Here it is one skipped test.
 */
export function describeOrSkip(name: string, options: Options, suite: () => void): void {
  const { skip = false, ...others } = options;
  if (skip === false) void describe(name, others, suite);
  else void it(name, { skip });
}
