import { GitError } from '../errors.ts';
import { assertWhole, type Packet, readPackets, textOf } from './pkt-line.ts';
import { throwRemoteError } from './remote-error.ts';

/** What a server says of itself before anything is asked of it. */
export interface Advertisement {
  /** With version 2 it holds no refs, so that it is the same at every poll. */
  readonly version: 0 | 2;
  readonly capabilities: ReadonlySet<string>;
}

/**
 * Reads and checks the answer to `GET …/info/refs?service=…`.
 *
 * @throws GitError `GIT_CUT`, `GIT_NOT_GIT`, `GIT_REMOTE_ERROR`, `GIT_SHA256`
 */
export function readAdvertisement(body: Buffer, clean: (text: string) => string): Advertisement {
  const packets = readPackets(body);
  throwRemoteError(packets, clean);
  assertWhole(packets);
  const lines = packets.filter((packet) => packet.kind === 'line').filter((line) => !isServiceLine(line));
  const version = lines[0] !== undefined && textOf(lines[0]) === 'version 2' ? 2 : 0;
  const capabilities = new Set(version === 2 ? lines.slice(1).map(textOf) : capabilitiesOfFirstRef(lines[0]));
  if (capabilities.has('object-format=sha256')) {
    throw new GitError(
      'GIT_SHA256',
      'the repository names its objects by SHA-256, which is not supported: use one that was made with --object-format=sha1',
    );
  }
  return { version, capabilities };
}

const isServiceLine = (line: Packet): boolean => textOf(line).startsWith('# service=');

/** In version 0 they stand behind the first ref, after a NUL. */
function capabilitiesOfFirstRef(line: Packet | undefined): readonly string[] {
  if (line === undefined) return [];
  return textOf(line).split('\0')[1]?.split(' ') ?? [];
}
