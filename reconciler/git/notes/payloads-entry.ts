import type { TreeEntry } from '../objects/tree.ts';

/** At the root of a notes ref. git keeps files whose names are not those of objects, and does not show them. */
export const PAYLOADS = 'payloads.json';

export const payloadsEntry = (root: readonly TreeEntry[]): TreeEntry | undefined =>
  root.find(({ name }) => name.toString('latin1') === PAYLOADS);
