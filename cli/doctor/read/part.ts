import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import type { Part } from '../facts.ts';

/** What a call gives, or why it gave nothing: one part that cannot be read hides no other. Never rejects. */
export async function partOf<T>(reading: Promise<T>): Promise<Part<T>> {
  try {
    return { read: true, value: await reading };
  } catch (error) {
    return { read: false, code: codeOf(error) ?? '', why: reasonOf(error) };
  }
}

export async function mapPart<T, U>(part: Promise<Part<T>>, as: (value: T) => U): Promise<Part<U>> {
  const done = await part;
  return done.read ? { read: true, value: as(done.value) } : done;
}
