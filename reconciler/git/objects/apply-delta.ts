import { damagedPack } from '../wire/pack-entry.ts';
import { readSize } from '../wire/varint.ts';

/** A copy of this size is written as none. */
const SIZE_OF_ZERO = 0x10000;

/**
 * Makes an object of its base and a delta (gitformat-pack, "Deltified representation"). Takes no more steps than the result
 * has bytes.
 *
 * @throws GitError `GIT_DAMAGED` where the delta does not fit its base
 */
export function applyDelta(delta: Buffer, base: Buffer): Buffer {
  const from = readSize(delta, 0, 7);
  const to = readSize(delta, from.end, 7);
  if (from.value !== base.length) throw unfit();
  // Memory of its own: small results would keep slabs otherwise.
  const result = Buffer.allocUnsafeSlow(to.value);
  let at = to.end;
  let written = 0;
  while (at < delta.length) {
    const piece = readPiece(delta, at, base);
    if (piece.bytes.length === 0 || written + piece.bytes.length > result.length) throw unfit();
    written += piece.bytes.copy(result, written);
    at = piece.end;
  }
  if (written !== result.length) throw unfit();
  return result;
}

/** What one instruction adds: bytes of the base, or bytes that stand in the delta itself. */
function readPiece(delta: Buffer, start: number, base: Buffer): { readonly bytes: Buffer; readonly end: number } {
  const instruction = delta[start] ?? 0;
  let at = start + 1;
  if ((instruction & 0x80) === 0) {
    const bytes = delta.subarray(at, at + instruction);
    if (bytes.length !== instruction) throw unfit();
    return { bytes, end: at + instruction };
  }
  /** The bits say which bytes of the number are written; the others are zero. */
  const gather = (firstBit: number, count: number): number => {
    let value = 0;
    for (let index = 0; index < count; index += 1) {
      if ((instruction & (1 << (firstBit + index))) === 0) continue;
      value += (delta[at] ?? 0) * 256 ** index;
      at += 1;
    }
    return value;
  };
  const offset = gather(0, 4);
  const size = gather(4, 3) || SIZE_OF_ZERO;
  const bytes = base.subarray(offset, offset + size);
  if (bytes.length !== size || at > delta.length) throw unfit();
  return { bytes, end: at };
}

const unfit = () => damagedPack('a delta does not fit its base');
