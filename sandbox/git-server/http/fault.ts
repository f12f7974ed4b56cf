import type { ServerResponse } from 'node:http';

/** The parts of a fetch or push that a fault can be narrowed to. */
export type GitStep = 'advertisement' | 'fetch' | 'push';

/** How the server fails until the fault is cleared. */
export type GitFault =
  /** Every connection is closed before a byte of an answer. */
  | { readonly kind: 'unreachable' }
  /** The request is taken and never answered. */
  | { readonly kind: 'hang'; readonly at?: GitStep }
  /** Status 500 with a line of text. */
  | { readonly kind: 'status-500'; readonly at?: GitStep }
  /** Half of the answer, then the connection is closed. */
  | { readonly kind: 'cut'; readonly at?: GitStep };

/** Whether the fault concerns this step. */
export function strikes(fault: GitFault | null, step: GitStep): fault is GitFault {
  if (fault === null) return false;
  return fault.kind === 'unreachable' || fault.at === undefined || fault.at === step;
}

/** Sends the answer that the fault leaves of the right one. */
export function answerFaulty(fault: GitFault, response: ServerResponse, right: Buffer): void {
  switch (fault.kind) {
    case 'unreachable':
      response.destroy();
      return;
    case 'hang':
      return;
    case 'status-500':
      response.writeHead(500, { 'Content-Type': 'text/plain' }).end('the sandbox was told to fail\n');
      return;
    case 'cut':
      response.setHeader('Content-Length', right.length);
      response.write(right.subarray(0, Math.floor(right.length / 2)), () => response.destroy());
  }
}
