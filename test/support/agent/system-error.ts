/** An error as Node's file calls throw it. */
export function systemError(code: string, call: string, path: string): Error & { readonly code: string } {
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code });
}
