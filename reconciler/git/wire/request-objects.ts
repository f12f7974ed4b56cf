import { GitError } from '../errors.ts';
import type { GitSession } from './git-session.ts';
import { type PackLimits, scanPack } from './pack-scan.ts';
import { createPackAnswerReader } from './pack-answer.ts';
import { FLUSH, packetLine } from './pkt-line.ts';

/** Whether the server hands out single objects: protocol 2 with filters (gitprotocol-v2, `fetch`). Sends no request. */
export const supportsSingleObjects = (session: GitSession): boolean =>
  session.greeting()?.advertisement.version === 2 && supportsFilter(session);

/** Whether the server can leave out unwanted objects, in any version of the protocol. Sends no request. */
export function supportsFilter(session: GitSession): boolean {
  const heard = session.greeting()?.advertisement;
  if (heard?.version === 0) return heard.capabilities.has('filter');
  if (heard === undefined) return false;
  return [...heard.capabilities].some((line) => /^fetch=(?:.* )?filter(?: |$)/.test(line));
}

interface ObjectRequestOptions {
  /** Of commits: how many generations, the wanted ones being the first. Absent: all of them. */
  readonly depth?: number;
  /** What is left out of all that the wanted objects lead to, as `git rev-list --filter` has it. Default: trees and files. */
  readonly filter?: string;
  /** Commits of which all is left out, as if it were here. */
  readonly haves?: readonly string[];
}

/**
 * Asks for these objects, by name, and by default for nothing that they point to, as git itself does in a partial clone.
 *
 * @returns a pack whose checksum and sizes were checked
 * @throws GitError
 */
export async function requestObjects(
  session: GitSession,
  oids: readonly string[],
  limits: PackLimits,
  { depth, filter = 'tree:0', haves = [] }: ObjectRequestOptions = {},
): Promise<Buffer> {
  const wants = oids.map((oid) => `want ${oid}`);
  const present = haves.map((oid) => `have ${oid}`);
  const bounds = [...(depth === undefined ? [] : [`deepen ${depth}`]), `filter ${filter}`];
  const body = Buffer.concat([
    packetLine('command=fetch\n'),
    DELIMITER,
    ...['no-progress', 'ofs-delta', ...wants, ...bounds, ...present, 'done'].map((line) => packetLine(`${line}\n`)),
    FLUSH,
  ]);
  const { url, clean } = session;
  const maxBytes = session.limits.packBytes;
  const { take, end } = createPackAnswerReader({ url, clean, maxBytes, inSections: true });
  take(await session.post('git-upload-pack', body, { version: 2, maxBytes, take }));
  const pack = end();
  if (pack === null) throw new GitError('GIT_CUT', `${url} sent no objects`);
  await scanPack(pack, limits);
  return pack;
}

const DELIMITER = Buffer.from('0001');
