import { isGitError, GitError } from '../errors.ts';
import { createBufferGc } from '../buffer-gc.ts';
import { createGrowableBuffer } from './growable-buffer.ts';
import { createPacketStream } from './packet-stream.ts';
import { truncatedError, type Packet, textOf } from './pkt-line.ts';
import { remoteError } from './remote-error.ts';

/** Takes a part of an answer in as it arrives. @returns whether the rest can be left unread */
export type Take = (chunk: Buffer) => boolean;

/** The same for chunks that are dead once they were taken in. */
export function withBufferGc(take: Take): Take {
  const sweep = createBufferGc();
  return (chunk) => {
    const isEnough = take(chunk);
    sweep(chunk.length);
    return isEnough;
  };
}

/** An answer that holds a pack, read while it arrives, so that the pack is in memory once. */
interface PackAnswerReader {
  /** Never throws: what is wrong is said at the end, behind what the transport itself has to say. */
  readonly take: Take;
  /** @returns the pack; null where the first line is the one that leaves the rest unread. @throws GitError */
  end(): Buffer | null;
}

interface PackAnswerOptions {
  /** Address of the repository, for messages. */
  readonly url: string;
  readonly maxBytes: number;
  /** Takes the credential out of a text. */
  readonly clean: (text: string) => string;
  /** Whether the side bands follow a line `packfile`, as in version 2; otherwise they are there from the beginning. */
  readonly inSections: boolean;
  /** A first line that makes the rest worthless. */
  readonly enough?: string | undefined;
}

const PACK = 1;
const REMARK = 2;
const FAILURE = 3;

export function createPackAnswerReader(options: PackAnswerOptions): PackAnswerReader {
  const { url, clean, inSections, enough } = options;
  const pack = createGrowableBuffer(options.maxBytes);
  let banded = !inSections;
  let packets = 0;
  let last: Packet['kind'] | null = null;
  let packBytes = 0;
  let isEnough = false;
  let wrong: GitError | null = null;

  const stream = createPacketStream({
    inPieces(first) {
      const streams = banded && first === PACK;
      if (!streams) return false;
      packets += 1;
      last = 'line';
      return true;
    },
    piece(bytes) {
      packBytes += bytes.length;
      pack.push(bytes);
    },
    packet(packet) {
      packets += 1;
      last = packet.kind;
      const text = textOf(packet);
      if (packets === 1 && text === enough) isEnough = true;
      if (text.startsWith('ERR ')) throw remoteError(text.slice(4), clean);
      const band = packet.kind === 'line' && banded ? packet.payload[0] : undefined;
      if (band === FAILURE) throw remoteError(text.slice(1), clean);
      if (band !== REMARK && text === 'packfile') banded = true;
    },
  });

  return {
    take(chunk) {
      if (wrong !== null || isEnough) return isEnough;
      try {
        stream.push(chunk);
      } catch (error) {
        if (!isGitError(error)) throw error;
        wrong = error;
      }
      return isEnough;
    },
    end() {
      if (isEnough) return null;
      if (wrong !== null) throw wrong;
      if (packets === 0) throw new GitError('GIT_CUT', 'the server’s answer is empty: it failed without a word');
      if (!stream.isWhole() || last !== 'flush') throw truncatedError();
      if (packBytes === 0) throw new GitError('GIT_CUT', `${url} sent no objects`);
      return pack.bytes();
    },
  };
}
