import { GitServerError } from '#sandbox/git-server/errors.ts';

/**
 * Applies a delta of a pack to its base (gitformat-pack, "Deltified representation").
 *
 * @param maxBytes largest result that is made
 * @throws GitServerError `GIT_PACK_INVALID` where the delta does not fit its base
 */
export function applyDelta(base: Buffer, delta: Buffer, maxBytes: number): Buffer {
  const from = readSize(delta, 0);
  const to = readSize(delta, from.end);
  if (from.size !== base.length || to.size > maxBytes) throw unfit();

  const result = Buffer.alloc(to.size);
  let at = to.end;
  let written = 0;
  while (at < delta.length) {
    const instruction = delta[at] ?? 0;
    at += 1;
    let chunk: Buffer;
    if ((instruction & 0x80) === 0) {
      chunk = delta.subarray(at, at + instruction);
      if (instruction === 0 || chunk.length !== instruction) throw unfit();
      at += instruction;
    } else {
      const copy = readCopy(delta, at, instruction);
      chunk = base.subarray(copy.offset, copy.offset + copy.size);
      if (chunk.length !== copy.size) throw unfit();
      at = copy.end;
    }
    if (written + chunk.length > result.length) throw unfit();
    written += chunk.copy(result, written);
  }
  if (written !== result.length) throw unfit();
  return result;
}

/** Seven bits a byte, the lowest first. */
function readSize(delta: Buffer, start: number): { readonly size: number; readonly end: number } {
  let size = 0;
  for (let at = start, weight = 1; at < delta.length && at < start + 7; at += 1, weight *= 128) {
    const byte = delta[at] ?? 0;
    size += (byte & 0x7f) * weight;
    if ((byte & 0x80) === 0) return { size, end: at + 1 };
  }
  throw unfit();
}

/** The low four bits of the instruction say which bytes of the offset follow, the next three which of the size. */
function readCopy(delta: Buffer, start: number, instruction: number) {
  let at = start;
  const gather = (bits: number, count: number): number => {
    let value = 0;
    for (let index = 0; index < count; index += 1) {
      if ((bits & (1 << index)) === 0) continue;
      const byte = delta[at];
      if (byte === undefined) throw unfit();
      value += byte * 256 ** index;
      at += 1;
    }
    return value;
  };
  const offset = gather(instruction & 0x0f, 4);
  const size = gather((instruction >> 4) & 0x07, 3);
  return { offset, size: size === 0 ? 0x10000 : size, end: at };
}

const unfit = () => new GitServerError('GIT_PACK_INVALID', 'a delta does not fit its base');
