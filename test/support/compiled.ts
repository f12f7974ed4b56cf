const directory = process.env['NODE_COMPILE_CACHE'];

/**
 * For the environment of a program that a test starts: it finds what Node has compiled before, as the test itself does.
 * Empty where nobody keeps that.
 */
export const COMPILED: Readonly<Record<string, string>> =
  directory === undefined ? {} : { NODE_COMPILE_CACHE: directory };
