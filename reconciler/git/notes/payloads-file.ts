import { MOST_PROOF_BYTES } from '../../policy/following/payload-proofs.ts';
import type { ObjectStore } from '../objects/git-object-store.ts';
import { formatTree, parseTree } from '../objects/tree.ts';
import type { GitSession } from '../wire/git-session.ts';
import { requestObjects } from '../wire/request-objects.ts';
import type { BesideNotes } from './annotator.ts';
import { PAYLOADS, payloadsEntry } from './payloads-entry.ts';
import { isUnreadableNote } from './unreadable-note.ts';

const FILE = '100644';

/** What is in the file; null where it cannot be read. */
export async function payloadsText(objects: ObjectStore, oid: string): Promise<string | null> {
  try {
    const bytes = await objects.read(oid, 'blob');
    return bytes.length > MOST_PROOF_BYTES ? null : bytes.toString('utf8');
  } catch (error) {
    if (isUnreadableNote(error)) return null;
    throw error;
  }
}

/** The notes tree with the file as it is to be; the same where it is so already. One that cannot be read is made anew. */
export async function withPayloads(
  session: GitSession,
  objects: ObjectStore,
  tree: string,
  change: BesideNotes['payloads'],
): Promise<string> {
  if (change === undefined) return tree;
  const root = parseTree(tree, await objects.read(tree, 'tree'));
  const present = payloadsEntry(root);
  if (present !== undefined && !objects.has(present.oid)) {
    try {
      await objects.addPack(await requestObjects(session, [present.oid], session.limits));
    } catch (error) {
      if (!isUnreadableNote(error)) throw error;
    }
  }
  const before = present !== undefined && objects.has(present.oid) ? await payloadsText(objects, present.oid) : null;
  const oid = await objects.write('blob', Buffer.from(change(before)));
  if (oid === present?.oid) return tree;
  const others = root.filter((entry) => entry !== present);
  return objects.write('tree', formatTree([...others, { mode: FILE, name: Buffer.from(PAYLOADS), oid }]));
}
