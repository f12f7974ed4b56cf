/** An error as Node's file calls throw it. */
export function systemError(code: string, call: string, path: string): Error & { readonly code: string } {
  const { stackTraceLimit } = Error;
  // As little is told of where it came from, and thousands are thrown that nobody prints.
  Error.stackTraceLimit = 0;
  const error = new Error(`${code}: ${call} '${path}'`);
  Error.stackTraceLimit = stackTraceLimit;
  return Object.assign(error, { code });
}
