import { GitError } from '../errors.ts';
import type { Packet } from './pkt-line.ts';
import { remoteError } from './remote-error.ts';

/** An answer in side-band-64k framing, taken apart. */
interface SideBand {
  /** Band 1: the pack, or the report on a push. */
  readonly payload: Buffer;
  /** Band 2: what git shows as `remote: …`. */
  readonly remarks: string;
}

/** @throws GitError `GIT_REMOTE_ERROR` for band 3, with which a server ends an answer that it cannot finish */
export function readSideBand(packets: readonly Packet[], clean: (text: string) => string): SideBand {
  let isSilent = true;
  const payload: Buffer[] = [];
  const remarks: Buffer[] = [];
  for (const packet of packets) {
    if (packet.kind !== 'line') continue;
    const rest = packet.payload.subarray(1);
    const band = packet.payload[0];
    if (band === 1) payload.push(rest);
    else if (band === 2) remarks.push(rest);
    else if (band === 3) throw remoteError(rest.toString('utf8'), clean);
    // A line outside the bands: `shallow …`, `ACK …`, `NAK`.
    else isSilent = false;
  }
  if (isSilent && payload.length === 0) {
    throw new GitError('GIT_CUT', 'the server’s answer is empty: it failed without a word');
  }
  return { payload: Buffer.concat(payload), remarks: Buffer.concat(remarks).toString('utf8') };
}
