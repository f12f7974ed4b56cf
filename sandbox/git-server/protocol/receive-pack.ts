import { reasonOf } from '#shared/runtime/errors.ts';
import { GitServerError } from '#sandbox/git-server/errors.ts';
import type { GitObject, Oid } from '#sandbox/git-server/objects/oid.ts';
import { isOid, NO_OID } from '#sandbox/git-server/objects/oid.ts';
import type { PackLimits } from '#sandbox/git-server/pack/pack-entries.ts';
import { firstMissing, readPack } from '#sandbox/git-server/pack/pack-reader.ts';
import { FLUSH, packet, readPackets, sideBand } from './packets.ts';
import type { RefChange, RefPolicy } from '#sandbox/git-server/repository/ref-rules.ts';
import type { Repository } from '#sandbox/git-server/repository/repository.ts';

const NOTHING: ReadonlyMap<Oid, GitObject> = new Map();

/** Answers `POST git-receive-pack`: takes the pack in, changes the refs that may be changed, and says so per ref. */
export async function answerReceivePack(
  repository: Repository,
  body: Buffer,
  rules: { readonly policy: RefPolicy; readonly limits: PackLimits },
): Promise<Buffer> {
  const reader = readPackets(body);
  const { changes, capabilities } = readCommands(reader.section());
  // Before a large push git asks with an empty one whether it may push at all.
  if (changes.length === 0) return Buffer.alloc(0);
  const report = Buffer.concat(await takeIn(repository, changes, reader.rest(), rules));
  if (!capabilities.includes('report-status')) return Buffer.alloc(0);
  return capabilities.includes('side-band-64k') ? Buffer.concat([sideBand(report), FLUSH]) : report;
}

async function takeIn(
  repository: Repository,
  changes: readonly RefChange[],
  pack: Buffer,
  rules: { readonly policy: RefPolicy; readonly limits: PackLimits },
): Promise<readonly Buffer[]> {
  try {
    const incoming = pack.length === 0 ? NOTHING : readPack(pack, repository.lookup, rules.limits);
    const missing = firstMissing(incoming, repository.lookup);
    if (missing !== undefined) throw new GitServerError('GIT_PACK_INVALID', `missing necessary object ${missing}`);
    const verdicts = await repository.change(incoming, changes, rules.policy);
    const lines = verdicts.map(({ ref, refusal }) => (refusal === undefined ? `ok ${ref}` : `ng ${ref} ${refusal}`));
    return [packet('unpack ok\n'), ...lines.map((line) => packet(`${line}\n`)), FLUSH];
  } catch (error) {
    const lines = [`unpack ${reasonOf(error)}`, ...changes.map(({ ref }) => `ng ${ref} unpacker error`)];
    return [...lines.map((line) => packet(`${line}\n`)), FLUSH];
  }
}

/** `<old> <new> <ref>` lines; the first carries the client's capabilities. A shallow clone tells its boundary too. */
function readCommands(lines: readonly string[]) {
  const changes: RefChange[] = [];
  let capabilities: readonly string[] = [];
  for (const line of lines) {
    const [command = '', offered] = line.split('\0');
    if (offered !== undefined) capabilities = offered.split(' ');
    const [from = '', to = '', ...name] = command.split(' ');
    if (from === 'shallow' && isOid(to)) continue;
    const ref = name.join(' ');
    if (!isOid(from) || !isOid(to) || ref === '' || (from === NO_OID && to === NO_OID)) {
      throw new GitServerError('GIT_REQUEST_MALFORMED', 'a push command is not "<old> <new> <ref>"');
    }
    changes.push({ from, to, ref });
  }
  return { changes, capabilities };
}
