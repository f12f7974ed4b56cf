import { readFetchArguments } from './fetch-arguments.ts';
import { writePack } from '#sandbox/git-server/pack/pack-writer.ts';
import { DELIMITER, FLUSH, packet, sideBand } from './packets.ts';
import type { Repository } from '#sandbox/git-server/repository/repository.ts';
import type { Selection } from '#sandbox/git-server/pack/select-pack.ts';
import { isEnough, selectPack } from '#sandbox/git-server/pack/select-pack.ts';

/** Answers the `fetch` command of protocol version 2 (gitprotocol-v2): acknowledgments, or shallow-info and the pack. */
export function answerFetchV2(repository: Repository, lines: readonly string[]): Buffer {
  const { request: asked, done, waitForDone } = readFetchArguments(lines, repository.lookup);
  if (asked.wants.length === 0) return FLUSH;
  const request = { ...asked, haves: asked.haves.filter((oid) => repository.lookup(oid) !== undefined) };

  const acknowledgments: Buffer[] = [];
  if (asked.haves.length > 0 && !done) {
    acknowledgments.push(packet('acknowledgments\n'));
    acknowledgments.push(...request.haves.map((oid) => packet(`ACK ${oid}\n`)));
    if (request.haves.length === 0) acknowledgments.push(packet('NAK\n'));
    const ready = !waitForDone && request.haves.length > 0 && isEnough(repository.lookup, request);
    if (!ready) return Buffer.concat([...acknowledgments, FLUSH]);
    acknowledgments.push(packet('ready\n'), DELIMITER);
  }

  const selection = selectPack(repository.lookup, request);
  return Buffer.concat([
    ...acknowledgments,
    ...(request.deepen === undefined ? [] : shallowInfo(selection)),
    packet('packfile\n'),
    sideBand(writePack(selection.objects)),
    FLUSH,
  ]);
}

function shallowInfo(selection: Selection): readonly Buffer[] {
  return [
    packet('shallow-info\n'),
    ...selection.shallow.map((oid) => packet(`shallow ${oid}\n`)),
    ...selection.unshallow.map((oid) => packet(`unshallow ${oid}\n`)),
    DELIMITER,
  ];
}
