import { GitError } from '../errors.ts';

/** One entry of a directory, byte for byte as the tree object has it. */
export interface TreeEntry {
  /** As written, without leading zero: `40000`, `100644`, `100755`, `120000`, `160000`, or what history left behind. */
  readonly mode: string;
  readonly name: Buffer;
  readonly oid: string;
}

const DIRECTORY = '40000';
const OID_BYTES = 20;

/**
 * Takes a tree object apart without judging names or modes.
 *
 * @throws GitError `GIT_DAMAGED` where an entry is not whole
 */
export function parseTree(oid: string, bytes: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const nul = bytes.indexOf(0, at);
    const end = nul + 1 + OID_BYTES;
    if (space < 0 || nul < space || end > bytes.length) throw new GitError('GIT_DAMAGED', `the tree ${oid} is damaged`);
    entries.push({
      mode: bytes.toString('latin1', at, space).replace(/^0+/, ''),
      name: bytes.subarray(space + 1, nul),
      oid: bytes.toString('hex', nul + 1, end),
    });
    at = end;
  }
  return entries;
}

/** A tree object of these entries, in git's order: a directory sorts as if its name ended with a slash. */
export function formatTree(entries: readonly TreeEntry[]): Buffer {
  const keyOf = ({ mode, name }: TreeEntry): Buffer =>
    mode === DIRECTORY ? Buffer.concat([name, Buffer.from('/')]) : name;
  const sorted = [...entries].sort((a, b) => Buffer.compare(keyOf(a), keyOf(b)));
  return Buffer.concat(
    sorted.flatMap(({ mode, name, oid }) => [Buffer.from(`${mode} `), name, Buffer.from([0]), Buffer.from(oid, 'hex')]),
  );
}

export const isDirectory = ({ mode }: TreeEntry): boolean => mode === DIRECTORY;
