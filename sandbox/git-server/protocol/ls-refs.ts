import { sorted } from './advertise.ts';
import type { Oid } from '#sandbox/git-server/objects/oid.ts';
import { peel } from '#sandbox/git-server/objects/git-object.ts';
import { FLUSH, packet } from './packets.ts';
import type { Repository } from '#sandbox/git-server/repository/repository.ts';

/** Answers the `ls-refs` command of protocol version 2. Arguments that are not known are passed over, as git does. */
export function answerLsRefs(repository: Repository, lines: readonly string[]): Buffer {
  const prefixes = lines.filter((line) => line.startsWith('ref-prefix ')).map((line) => line.slice(11));
  const asked = (ref: string) => prefixes.length === 0 || prefixes.some((prefix) => ref.startsWith(prefix));
  const described = sorted(repository)
    .filter(([ref]) => asked(ref))
    .map(([ref, oid]) => `${oid} ${ref}${lines.includes('peel') ? peeled(repository, oid) : ''}`);
  const head = asked('HEAD') ? headLine(repository, lines) : [];
  return Buffer.concat([...[...head, ...described].map((line) => packet(`${line}\n`)), FLUSH]);
}

/** `HEAD` of an empty repository is sent only to clients that ask, so that a clone of it starts on the right branch. */
function headLine(repository: Repository, lines: readonly string[]): readonly string[] {
  const target = lines.includes('symrefs') ? ` symref-target:${repository.head}` : '';
  const oid = repository.refs.get(repository.head);
  if (oid !== undefined) return [`${oid} HEAD${target}`];
  return lines.includes('unborn') ? [`unborn HEAD${target}`] : [];
}

function peeled(repository: Repository, oid: Oid): string {
  const { target } = peel(repository.lookup, oid);
  return target === oid ? '' : ` peeled:${target}`;
}
