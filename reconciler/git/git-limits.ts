import type { Millis } from '#shared/runtime/clock.ts';

/** How much of anything a git server may cost us. Beyond it a call ends with an error that names the limit. */
export interface GitLimits {
  /** Longest wait for a connection, TLS included. */
  readonly connectMs: Millis;
  /** Longest silence of an answer. git's own servers say something every five seconds while they pack. */
  readonly idleMs: Millis;
  /** Longest time of one whole call, all its requests together. */
  readonly totalMs: Millis;
  /** Largest list of refs: room for 250,000 of them. */
  readonly advertisementBytes: number;
  /** Largest pack on the wire. */
  readonly packBytes: number;
  /** Most objects in a pack. */
  readonly objects: number;
  /** Largest single object, unpacked. Decided by the header, before anything is unpacked. */
  readonly objectBytes: number;
  /** All objects of a pack, unpacked. */
  readonly inflatedBytes: number;
  /** Largest file that is taken over; a larger one becomes a finding. */
  readonly fileBytes: number;
  readonly files: number;
  /** Entries of all directories together, those of a directory that is named twice counted twice. */
  readonly treeEntries: number;
  /** Directories within directories. */
  readonly depth: number;
  /** Commits that are looked at, along first parents, for the one that changed a folder last. */
  readonly generations: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const DEFAULT_GIT_LIMITS: GitLimits = {
  connectMs: 10_000,
  idleMs: 15_000,
  totalMs: 120_000,
  advertisementBytes: 16 * MIB,
  packBytes: 40 * MIB,
  objects: 40_000,
  objectBytes: 1 * MIB,
  inflatedBytes: 64 * MIB,
  fileBytes: 256 * KIB,
  files: 5_000,
  treeEntries: 20_000,
  depth: 16,
  generations: 1_000,
};
