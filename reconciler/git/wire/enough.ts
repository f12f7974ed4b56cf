/** Asked once the first eight bytes of an answer are there: whether the rest can be left unread. */
export type Enough = (head: Buffer) => boolean;

const HEAD_BYTES = 8;

/** Asks `enough` once, with all the bytes that have arrived by then. */
export function atHead(enough: Enough = () => false): (chunks: readonly Buffer[], bytes: number) => boolean {
  let asked = false;
  return (chunks, bytes) => {
    if (asked || bytes < HEAD_BYTES) return false;
    asked = true;
    return enough(Buffer.concat(chunks));
  };
}
