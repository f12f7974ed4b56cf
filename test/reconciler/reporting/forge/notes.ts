import type { CommitNote, NotedPool } from '#reconciler/reporting/notes/commit-note.ts';
import { COMMITS } from '../../../support/forge-server.ts';

const COUNTS = { nodes: 4, updated: 0, updating: 0, pending: 0, failed: 0, noAgent: 0, drifted: 0 };

/** A pool as a note tells of it, so far along. */
export const pool = (
  name: string,
  phase: NotedPool['phase'],
  updated = 0,
  more: Partial<NotedPool> = {},
): NotedPool => ({
  name,
  origin: 'rendered',
  config: `${name}-abc123`,
  phase,
  emergency: null,
  suspended: false,
  waves: [],
  halt: null,
  released: null,
  counts: { ...COUNTS, updated, pending: 4 - updated },
  failures: [],
  findings: [],
  ...more,
});

export const note = (
  outcome: CommitNote['outcome'],
  pools: readonly NotedPool[],
  more: Partial<CommitNote> = {},
): CommitNote => ({
  cluster: 'demo',
  commit: COMMITS[0] ?? '',
  outcome,
  message: '',
  limits: null,
  pools,
  findings: [],
  ...more,
});
