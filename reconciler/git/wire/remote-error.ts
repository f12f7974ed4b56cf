import { GitError } from '../errors.ts';
import { plainLine } from '../plain-text.ts';
import { type Packet, textOf } from './pkt-line.ts';

/** Throws what the server says in an `ERR` line, which git sends with status 200. */
export function throwRemoteError(packets: readonly Packet[], clean: (text: string) => string): void {
  for (const packet of packets) {
    const text = textOf(packet);
    if (text.startsWith('ERR ')) throw remoteError(text.slice(4), clean);
  }
}

/** @param said the server's words, untrusted */
export function remoteError(said: string, clean: (text: string) => string): GitError {
  return new GitError('GIT_REMOTE_ERROR', `the git server says: ${plainLine(clean(said), 300)}`);
}
