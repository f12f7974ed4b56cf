import type { Desired } from '#reconciler/policy/desired.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import { NO_STATE, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { type SourceFacts, sourceStatus } from '#reconciler/reporting/source/source-status.ts';
import { API_VERSION } from '#shared/contract/api/group.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import type { Finding } from '#shared/contract/finding.ts';
import {
  COMMIT_A,
  COMMIT_B,
  commit,
  fleetOf,
  invalidPool,
  poolInCluster,
  validPool,
} from '../../../../support/fleet.ts';

export const AT = '2026-11-20T10:00:00Z';
export const LATER = '2026-11-20T11:00:00Z';

const HERE = { url: 'https://git.example.com/config.git', branch: 'main', cluster: 'demo' };
const IN_FORCE = { commit: COMMIT_A, subject: 'Raise maxPods', author: 'Ada', takenUpAt: AT };
const REFUSAL = {
  refusedCommit: COMMIT_B,
  refusedReason: 'changes-too-many',
  refusedBecause: 'it would change 40 of 48 nodes, and maxChange allows 20',
};

const NEVER_VALID: Finding = {
  code: 'unknown-field',
  severity: 'error',
  message: 'there is no field maxPodz',
  file: 'pools/new/kubelet.yaml',
  line: 4,
  column: 1,
};

const tipAt = (oid: string): SourceFacts['tip'] => ({
  oid,
  parents: [],
  author: { name: oid === COMMIT_B ? 'Mallory' : 'Ada', email: '', at: AT },
  subject: oid === COMMIT_B ? 'Change all' : 'Raise maxPods',
  raw: new Uint8Array(),
});

const pool = validPool('workers', 110);
const fleet = fleetOf({ pools: [poolInCluster(pool)] });
const good: Desired = desiredState(commit(COMMIT_A, pool), fleet, () => []);
const faulty: Desired = desiredState(commit(COMMIT_A, invalidPool('workers')), fleet, () => []);

/** @param readAt where the branch stood; null where it was not read */
export const factsOf = (
  readAt: string | null,
  state: Partial<SourceState> = {},
  { desired = good, path = '' }: Partial<SourceFacts> = {},
): SourceFacts => ({
  source: { ...NO_STATE, ...HERE, ...IN_FORCE, ...state },
  desired,
  tip: readAt === null ? null : tipAt(readAt),
  readAt,
  path,
});

/** As the API server has the object after a pass. */
export const afterPass = (facts: SourceFacts, before: KubeletSource = MADE, at = AT): KubeletSource => ({
  ...before,
  status: sourceStatus(facts, before, at),
});

export const MADE: KubeletSource = {
  apiVersion: API_VERSION,
  kind: 'KubeletSource',
  metadata: { name: SOURCE_NAME, uid: 'source-uid', generation: 1 },
};

const SETTLED = afterPass(factsOf(COMMIT_A));
const FAILING = { failingSince: AT, failure: 'GIT_UNREACHABLE: no answer' };

/** States of a KubeletSource, and how kstatus has to see them. */
export const SOURCE_STATES: readonly (readonly [
  state: string,
  kstatus: 'Current' | 'InProgress' | 'Failed',
  source: () => KubeletSource,
])[] = [
  ['the newest commit is in force', 'Current', () => SETTLED],
  [
    'a reconciler that has just started finds git away',
    'InProgress',
    () => afterPass(factsOf(null, { ...FAILING }), SETTLED),
  ],
  ['git cannot be read', 'InProgress', () => afterPass(factsOf(COMMIT_A, FAILING), SETTLED)],
  [
    'nothing was ever read',
    'InProgress',
    () => afterPass(factsOf(null, { commit: '', subject: '', author: '', takenUpAt: '' })),
  ],
  ['a commit was read and not judged yet', 'InProgress', () => afterPass(factsOf(COMMIT_B), SETTLED)],
  ['the newest commit is refused', 'Failed', () => afterPass(factsOf(COMMIT_B, REFUSAL), SETTLED)],
  [
    'the newest commit is refused, and git cannot be read any more',
    'Failed',
    () => afterPass(factsOf(null, { ...REFUSAL, ...FAILING }), SETTLED),
  ],
  ['a pool keeps what it had', 'Failed', () => afterPass(factsOf(COMMIT_A, {}, { desired: faulty }), SETTLED)],
  [
    'a new pool is wrong',
    'Failed',
    () => afterPass(factsOf(COMMIT_A, {}, { desired: { ...good, findings: [NEVER_VALID] } }), SETTLED),
  ],
  [
    'pools fight for nodes',
    'Failed',
    () => afterPass(factsOf(COMMIT_A, { findings: 'nodes a and b are left alone: two pools select them' }), SETTLED),
  ],
  [
    'a pool keeps what it had, and a reconciler that has just started finds git away',
    'Failed',
    () => afterPass(factsOf(null, FAILING), afterPass(factsOf(COMMIT_A, {}, { desired: faulty }), SETTLED)),
  ],
];

export { REFUSAL, SETTLED, FAILING, faulty };
