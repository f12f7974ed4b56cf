import git from 'isomorphic-git';
import type { GitSession, Greeting } from '../wire/git-session.ts';
import type { RepoParameters } from '../objects/git-object-store.ts';
import type { CommitOid } from '../../policy/commit-snapshot.ts';
import { assertWhole, FLUSH, packetLine, readPackets, textOf } from '../wire/pkt-line.ts';
import { throwRemoteError } from '../wire/remote-error.ts';
import { readSideBand } from '../wire/side-band.ts';
import { pushError, pushRaceError } from './push-refusal.ts';

interface NotesPush {
  readonly ref: string;
  /** What the ref has to be for the push to count; null if it must not exist. */
  readonly from: CommitOid | null;
  readonly to: CommitOid;
  /** The objects that are new: the server has all others that they point to. */
  readonly oids: readonly string[];
}

const NOTHING = '0'.repeat(40);

/**
 * Pushes a commit of notes (gitprotocol-pack, "Pushing Data"). The server compares and swaps, nothing is ever forced.
 *
 * Not left to isomorphic-git's `push`, which reads every tree of the commit to find out what is new.
 *
 * @throws GitError `GIT_PUSH_RACE` where another writer was faster, `GIT_PUSH_REFUSED` where a rule says no,
 *   `GIT_PUSH_NO_ROOM` for a quota, `GIT_FORBIDDEN` or `GIT_UNAUTHORIZED` for the credential
 */
export async function pushNotes(session: GitSession, repo: RepoParameters, push: NotesPush): Promise<void> {
  const greeting = await session.greet('git-receive-pack', 0);
  if (advertised(greeting, push.ref) !== push.from) throw pushRaceError(push.ref, '');
  const { packfile = new Uint8Array() } = await git.packObjects({ ...repo, oids: [...push.oids], write: false });
  const { capabilities } = greeting.advertisement;
  const words = ['report-status', 'side-band-64k'].filter((word) => capabilities.has(word));
  const order = `${push.from ?? NOTHING} ${push.to} ${push.ref}\0 ${words.join(' ')}`;
  const body = Buffer.concat([packetLine(order), FLUSH, packfile]);
  const maxBytes = session.limits.advertisementBytes;
  const answer = await session.post('git-receive-pack', body, { version: 0, maxBytes });
  const packets = readPackets(answer);
  throwRemoteError(packets, session.clean);
  assertWhole(packets);
  const banded = words.includes('side-band-64k');
  const { payload, remarks } = banded ? readSideBand(packets, session.clean) : { payload: answer, remarks: '' };
  const lines = readPackets(payload).map(textOf);
  const unpacked = lines.find((line) => line.startsWith('unpack '))?.slice('unpack '.length) ?? 'ok';
  // A full disk, say: no other writer was there, and another try at once would not help.
  const refused = unpacked === 'ok' ? refusalIn(lines, push.ref) : unpacked;
  if (refused === null) return;
  throw pushError({ ref: push.ref, reason: session.clean(refused), remarks: session.clean(remarks) });
}

/** The commit that the server has the ref at; null without a ref of that name. */
function advertised({ body }: Greeting, ref: string): CommitOid | null {
  for (const line of readPackets(body).map(textOf)) {
    const [oid = '', name] = line.split('\0', 1).join().split(' ');
    if (name === ref) return oid;
  }
  return null;
}

/** The words behind `ng <ref>` in the server's report, may be empty; null if the push counts. */
function refusalIn(lines: readonly string[], ref: string): string | null {
  if (lines.includes(`ok ${ref}`)) return null;
  return lines.find((each) => each.startsWith(`ng ${ref} `))?.slice(`ng ${ref} `.length) ?? '';
}
