import type { ProtocolVersion } from './advertise.ts';
import { GitServerError } from '#sandbox/git-server/errors.ts';
import { answerFetchV0 } from './fetch-v0.ts';
import { answerFetchV2 } from './fetch-v2.ts';
import { answerLsRefs } from './ls-refs.ts';
import { packet, readPackets } from './packets.ts';
import type { Repository } from '#sandbox/git-server/repository/repository.ts';

/** Answers `POST git-upload-pack`. What the client may not have becomes an `ERR` packet, which git prints. */
export function answerUploadPack(repository: Repository, body: Buffer, version: ProtocolVersion): Buffer {
  try {
    return version === 2 ? answerCommand(repository, body) : answerFetchV0(repository, body);
  } catch (error) {
    if (error instanceof GitServerError && error.code === 'GIT_REQUEST_REFUSED')
      return packet(`ERR ${error.message}\n`);
    throw error;
  }
}

/** A version 2 request: the command and capabilities, and after a delimiter the command's arguments. */
function answerCommand(repository: Repository, body: Buffer): Buffer {
  const reader = readPackets(body);
  const lines = reader.section();
  if (lines.length === 0) return Buffer.alloc(0);
  const foreign = lines.find((line) => line.startsWith('object-format=') && line !== 'object-format=sha1');
  if (foreign !== undefined) {
    throw new GitServerError(
      'GIT_REQUEST_REFUSED',
      `mismatched object format: the repository is SHA-1, not ${foreign}`,
    );
  }
  const command = lines.find((line) => line.startsWith('command='));
  if (command === 'command=ls-refs') return answerLsRefs(repository, reader.section());
  if (command === 'command=fetch') return answerFetchV2(repository, reader.section());
  throw new GitServerError('GIT_REQUEST_REFUSED', `unknown ${command ?? 'request without a command'}`);
}
