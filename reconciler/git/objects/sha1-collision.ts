import type { YieldAfterWork } from '../event-loop-yield.ts';

/**
 * A pattern of differences between the two messages of a collision: its place, and its bit (Manuel's classes I
 * and II, for all places where an attack is feasible).
 */
interface Pattern {
  readonly kind: 1 | 2;
  readonly place: number;
  readonly bit: number;
}

const patterns = (kind: 1 | 2, bit: number, ...places: readonly number[]): readonly Pattern[] =>
  places.map((place) => ({ kind, place, bit }));

const PATTERNS: readonly Pattern[] = [
  ...patterns(1, 0, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52),
  ...patterns(1, 2, 46, 47, 48, 49, 50, 51),
  ...patterns(2, 0, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56),
  ...patterns(2, 2, 46, 49, 50, 51),
];

const BLOCK_BYTES = 64;
const STEPS = 80;
/** What a byte costs here, in bytes that are only hashed. */
const COST = 128;
const START = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0] as const;
const ROUND = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6] as const;

const rotated = (word: number, by: number): number => (word << by) | (word >>> (32 - by));

/** By how the other message's words differ, and the step before which both messages have the same state. */
const DIFFERENCES = PATTERNS.map((pattern) => ({
  words: differencesOf(pattern),
  equalBefore: pattern.place < 50 ? 58 : 65,
}));

function differencesOf({ kind, place, bit }: Pattern): Int32Array {
  const from = 5;
  const disturbed = new Int32Array(from + STEPS);
  const at = (step: number): number => disturbed[from + step] ?? 0;
  if (kind === 2) for (const step of [1, 3]) disturbed[from + place + step] = rotated(1 << 31, bit);
  disturbed[from + place + 15] = 1 << bit;
  for (let step = place + 16; step < STEPS; step += 1) {
    disturbed[from + step] = rotated(at(step - 3) ^ at(step - 8) ^ at(step - 14) ^ at(step - 16), 1);
  }
  for (let step = place - 1; step >= -from; step -= 1) {
    disturbed[from + step] = rotated(at(step + 16), 31) ^ at(step + 13) ^ at(step + 8) ^ at(step + 2);
  }
  // Each disturbance is taken back within five steps.
  return Int32Array.from({ length: STEPS }, (_, step) => {
    const late = rotated(at(step - 3), 30) ^ rotated(at(step - 4), 30) ^ rotated(at(step - 5), 30);
    return at(step) ^ rotated(at(step - 1), 5) ^ at(step - 2) ^ late;
  });
}

/** One step's function of the three middle words, and its constant. */
function mixed(step: number, b: number, c: number, d: number): number {
  if (step < 20) return ((b & c) | (~b & d)) + ROUND[0];
  if (step < 40) return (b ^ c ^ d) + ROUND[1];
  if (step < 60) return ((b & c) | (b & d) | (c & d)) + ROUND[2];
  return (b ^ c ^ d) + ROUND[3];
}

/** Runs steps forward, in place. */
function forward(state: Int32Array, words: Int32Array, from: number, to: number): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
  for (let step = from; step < to; step += 1) {
    const next = (rotated(a, 5) + mixed(step, b, c, d) + e + (words[step] ?? 0)) | 0;
    e = d;
    d = c;
    c = rotated(b, 30);
    b = a;
    a = next;
  }
  keep(state, a, b, c, d, e);
}

/** Runs steps backward to the first, in place. */
function backward(state: Int32Array, words: Int32Array, from: number): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
  for (let step = from - 1; step >= 0; step -= 1) {
    const after = a;
    a = b;
    b = rotated(c, 2);
    c = d;
    d = e;
    e = (after - rotated(a, 5) - mixed(step, b, c, d) - (words[step] ?? 0)) | 0;
  }
  keep(state, a, b, c, d, e);
}

function keep(state: Int32Array, a: number, b: number, c: number, d: number, e: number): void {
  state[0] = a;
  state[1] = b;
  state[2] = c;
  state[3] = d;
  state[4] = e;
}

/**
 * Whether bytes were made to have a twin with other bytes and the same SHA-1, as git itself looks for it (Stevens,
 * "Counter-cryptanalysis", CRYPTO 2013): all feasible ways to a collision follow one of a few patterns. For each block and each
 * pattern the twin's block is made and run from the middle, where both have the same state. If it comes to the same end, the block
 * is one of a pair.
 */
export async function isSha1CollisionAttack(bytes: Uint8Array, spend: YieldAfterWork): Promise<boolean> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chained = Int32Array.from(START);
  // The padding at the end cannot be chosen: only whole blocks can be of a pair.
  for (let at = 0; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) {
    if (isOfPair(expanded(view, at), chained)) return true;
    const pause = spend(BLOCK_BYTES * COST);
    if (pause !== undefined) await pause;
  }
  return false;
}

function expanded(view: DataView, at: number): Int32Array {
  const words = new Int32Array(STEPS);
  const word = (step: number): number => words[step] ?? 0;
  for (let step = 0; step < 16; step += 1) words[step] = view.getInt32(at + 4 * step);
  for (let step = 16; step < STEPS; step += 1) {
    words[step] = rotated(word(step - 3) ^ word(step - 8) ^ word(step - 14) ^ word(step - 16), 1);
  }
  return words;
}

/** Takes the block in as well. */
function isOfPair(words: Int32Array, chained: Int32Array): boolean {
  const state = Int32Array.from(chained);
  const middles = new Map<number, Int32Array>();
  let done = 0;
  for (const step of [58, 65]) {
    forward(state, words, done, step);
    middles.set(step, Int32Array.from(state));
    done = step;
  }
  forward(state, words, done, STEPS);
  for (let index = 0; index < 5; index += 1) chained[index] = ((chained[index] ?? 0) + (state[index] ?? 0)) | 0;
  const [twin, begin, end] = [new Int32Array(STEPS), new Int32Array(5), new Int32Array(5)];
  for (const { words: differing, equalBefore } of DIFFERENCES) {
    for (let step = 0; step < STEPS; step += 1) twin[step] = (words[step] ?? 0) ^ (differing[step] ?? 0);
    const middle = middles.get(equalBefore) ?? state;
    begin.set(middle);
    end.set(middle);
    backward(begin, twin, equalBefore);
    forward(end, twin, equalBefore, STEPS);
    if (begin.every((word, index) => ((word + (end[index] ?? 0)) | 0) === chained[index])) return true;
  }
  return false;
}
