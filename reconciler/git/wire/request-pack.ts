import type { GitSession } from './git-session.ts';
import { type PackLimits, scanPack } from './pack-scan.ts';
import { createPackAnswerReader } from './pack-answer.ts';
import { FLUSH, packetLine } from './pkt-line.ts';

/** What is asked of the server (gitprotocol-pack). */
export interface PackRequest {
  /** A commit that a ref names, or that can be reached from one. */
  readonly want: string;
  /** How many generations, `want` being the first. Absent: all of them. */
  readonly depth?: number;
  /** A commit whose whole history is left out. */
  readonly have?: string;
  /** What is left out, as `git rev-list --filter` has it: `blob:limit=1024`, `tree:0`. For servers that can (`supportsFilter`). */
  readonly filter?: string;
}

export type PackAnswer =
  | { readonly pack: Buffer; readonly objects: number }
  /** The server does not know `have`. Nothing was downloaded then. */
  | { readonly pack: null };

/**
 * Asks for objects, in protocol 0, which every server speaks and which needs no list of refs first.
 *
 * Not left to isomorphic-git's `fetch`: that downloads all refs each time, fails where the server's default branch
 * does not exist, takes a refusal for success, and moves its refs before the objects are there.
 *
 * @returns a pack whose checksum and sizes were checked
 * @throws GitError
 */
export async function requestPack(session: GitSession, wish: PackRequest, limits: PackLimits): Promise<PackAnswer> {
  const { url, clean } = session;
  const maxBytes = session.limits.packBytes;
  const enough = wish.have === undefined ? undefined : HAS_NONE;
  const { take, end } = createPackAnswerReader({ url, clean, maxBytes, inSections: false, enough });
  take(await session.post('git-upload-pack', bodyOf(wish, session), { version: 0, maxBytes, take }));
  const pack = end();
  return pack === null ? { pack } : { pack, ...(await scanPack(pack, limits)) };
}

/** The server's first words about the commits that we have: that it has none of them. */
const HAS_NONE = 'NAK';

/** Without thin-pack, so that a pack holds the bases of its deltas. */
const WISHED_FOR = ['multi_ack_detailed', 'side-band-64k', 'ofs-delta', 'no-progress'];

function bodyOf({ want, depth, have, filter }: PackRequest, session: GitSession): Buffer {
  const words = [...capabilitiesFor(session), ...(filter === undefined ? [] : ['filter'])];
  return Buffer.concat([
    packetLine(`want ${want} ${words.join(' ')}\n`),
    ...(depth === undefined ? [] : [packetLine(`deepen ${depth}\n`)]),
    ...(filter === undefined ? [] : [packetLine(`filter ${filter}\n`)]),
    FLUSH,
    ...(have === undefined ? [] : [packetLine(`have ${have}\n`)]),
    packetLine('done\n'),
  ]);
}

/** A server that greets in version 0 lists what it can; those that speak version 2 know all of these. */
function capabilitiesFor(session: GitSession): readonly string[] {
  const heard = session.greeting()?.advertisement;
  return heard?.version === 0 ? WISHED_FOR.filter((name) => heard.capabilities.has(name)) : WISHED_FOR;
}
