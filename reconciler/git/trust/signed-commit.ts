/** A commit taken apart the way git does it: what was signed, and the signature. */
type SignedCommit =
  | { readonly signed: true; readonly payload: Buffer; readonly signature: string; readonly committedAt: number | null }
  | { readonly signed: false };

const SIGNATURE = 'gpgsig';
/** In a repository that is being moved to SHA-256: a signature over the other form of the commit, and no part of this one. */
const OTHER_SIGNATURE = 'gpgsig-sha256';

/**
 * What a commit's signature is over: the object's bytes without the headers that hold signatures. Working on the bytes as
 * they are leaves no room for two readers to see two commits.
 *
 * @returns `committedAt` in seconds since the epoch; null where the committer's line cannot be read
 */
export function splitCommit(raw: Uint8Array): SignedCommit {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const kept: Buffer[] = [];
  const signature: string[] = [];
  let at = 0;
  let header = '';
  while (at < bytes.length) {
    const newline = bytes.indexOf(0x0a, at);
    const end = newline < 0 ? bytes.length : newline + 1;
    const line = bytes.subarray(at, end);
    // An empty line ends the headers; what follows is the message, whatever it looks like.
    if (line.length === 1 && line[0] === 0x0a) break;
    const continued = line[0] === 0x20;
    if (!continued) header = line.toString('latin1').split(' ', 1)[0] ?? '';
    if (header === SIGNATURE) signature.push(line.toString('latin1').slice(continued ? 1 : SIGNATURE.length + 1));
    else if (header !== OTHER_SIGNATURE) kept.push(line);
    at = end;
  }
  if (signature.length === 0) return { signed: false };
  const payload = Buffer.concat([...kept, bytes.subarray(at)]);
  return { signed: true, payload, signature: signature.join(''), committedAt: committedAt(kept) };
}

function committedAt(headers: readonly Buffer[]): number | null {
  const line = headers.map((header) => header.toString('latin1')).find((header) => header.startsWith('committer '));
  const seconds = /> (\d{1,12}) [+-]\d{4}\n?$/.exec(line ?? '')?.[1];
  return seconds === undefined ? null : Number(seconds);
}
