import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBufferGc } from './buffer-gc.ts';

/** Bytes that are inflated, hashed or copied in a row: a few hundredths of a second of a slow core. */
export const SLICE_BYTES = 2 * 1024 * 1024;
/** What a piece costs besides its bytes, as bytes: a thousand empty objects are work as well. */
const PIECE_BYTES = 4 * 1024;

/**
 * Says how many bytes were just worked on. Once a slice is full it returns what is to be awaited, so that others get a turn
 * meanwhile: a Lease is to be renewed, a probe to be answered.
 */
export type YieldAfterWork = (bytes: number) => Promise<void> | undefined;

export function createEventLoopYield(): YieldAfterWork {
  const sweep = createBufferGc();
  let spent = 0;
  return (bytes) => {
    spent += bytes + PIECE_BYTES;
    // What was worked on is dead soon after.
    sweep(bytes);
    if (spent < SLICE_BYTES) return undefined;
    spent = 0;
    return nextTurn();
  };
}
