import type { FetchArguments } from './fetch-arguments.ts';
import { readFetchArguments } from './fetch-arguments.ts';
import type { Oid } from '#sandbox/git-server/objects/oid.ts';
import { writePack } from '#sandbox/git-server/pack/pack-writer.ts';
import type { Packet, PacketReader } from './packets.ts';
import { FLUSH, packet, readPackets, sideBand, textOf } from './packets.ts';
import type { Repository } from '#sandbox/git-server/repository/repository.ts';
import { isEnough, selectPack } from '#sandbox/git-server/pack/select-pack.ts';

/**
 * Answers `POST git-upload-pack` in protocol version 0 or 1 (gitprotocol-pack). Over HTTP each request tells everything
 * again, so that nothing is remembered between two.
 */
export function answerFetchV0(repository: Repository, body: Buffer): Buffer {
  const reader = readPackets(body);
  const wanted = reader.section();
  if (wanted.length === 0) return Buffer.alloc(0);
  const opening = readFetchArguments(wanted, repository.lookup);
  const talk = negotiate(repository, opening, reader);

  const parts: Buffer[] = [];
  const selection = selectPack(repository.lookup, { ...opening.request, haves: talk.haves });
  if (opening.request.deepen !== undefined) {
    parts.push(...selection.shallow.map((oid) => packet(`shallow ${oid}\n`)));
    parts.push(...selection.unshallow.map((oid) => packet(`unshallow ${oid}\n`)), FLUSH);
  }
  parts.push(...talk.answers);
  if (talk.done) {
    const pack = writePack(selection.objects);
    parts.push(...(opening.flags.has('side-band-64k') ? [sideBand(pack), FLUSH] : [pack]));
  }
  return Buffer.concat(parts);
}

interface Talk {
  /** What the client has and is known here. */
  readonly haves: readonly Oid[];
  readonly answers: readonly Buffer[];
  /** Whether the client asked for its pack; otherwise it comes back with more haves. */
  readonly done: boolean;
}

/** Hears the client's haves. A client that only wants to know its shallow commits sends none at all. */
function negotiate(repository: Repository, opening: FetchArguments, reader: PacketReader): Talk {
  const detailed = opening.flags.has('multi_ack_detailed');
  const haves: Oid[] = [];
  const answers: Buffer[] = [];
  for (let heard: Packet = reader.next(); heard.kind !== 'end'; heard = reader.next()) {
    const last = haves.at(-1);
    if (heard.kind !== 'line') {
      const ready = detailed && last !== undefined && isEnough(repository.lookup, { ...opening.request, haves });
      if (ready) answers.push(packet(`ACK ${last} ready\n`));
      if (detailed || last === undefined) answers.push(packet('NAK\n'));
      continue;
    }
    const line = textOf(heard.payload);
    if (line === 'done') {
      if (last === undefined) answers.push(packet('NAK\n'));
      else if (detailed) answers.push(packet(`ACK ${last}\n`));
      return { haves, answers, done: true };
    }
    const have = readFetchArguments([line], repository.lookup).request.haves[0];
    if (have === undefined || repository.lookup(have) === undefined) continue;
    haves.push(have);
    if (detailed) answers.push(packet(`ACK ${have} common\n`));
    else if (last === undefined) answers.push(packet(`ACK ${have}\n`));
  }
  return { haves, answers, done: false };
}
