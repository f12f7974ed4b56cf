import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plain } from '#cli/paint.ts';
import { explainField } from '#cli/why/explain-field.ts';
import { explanationAsText } from '#cli/why/render.ts';
import { type RevisionStateQuestion, revisionState } from '#cli/why/revision-state.ts';
import { NO_STATE } from '#reconciler/reporting/notes/source-state.ts';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { COMMIT_A, COMMIT_B, nodeView, settledNode, validPool } from '../../support/fleet.ts';

const HEAD = validPool('w', 151);
const BEFORE = validPool('w', 150);
const before = { name: BEFORE.configName, sha256: BEFORE.sha256 };

/** A node that runs what was there before, with this in its status. */
function nodeOf(status: Partial<KubeletNodeStatus> = {}, told = before): RevisionStateQuestion['node'] {
  const node = settledNode(nodeView('w-1', 'w'), BEFORE, { active: { ...before, apply: 'overlay' }, ...status });
  return {
    ...node,
    spec: { ...node.spec, pool: 'w', configSource: { ...node.spec?.configSource, ...told } },
  } as RevisionStateQuestion['node'];
}

const QUESTION: RevisionStateQuestion = {
  wanted: HEAD,
  revision: COMMIT_B,
  source: { ...NO_STATE, commit: COMMIT_B },
  node: nodeOf(),
  reason: undefined,
};
const refused = { ...NO_STATE, commit: COMMIT_A, refusedCommit: COMMIT_B, refusedBecause: 'maxChange allows 2' };
const budget = {
  node: 'w-1',
  pool: 'w',
  standing: 'outdated',
  now: 'budget',
  because: 'maxUnavailable allows 1',
} as const;
const tried = {
  name: HEAD.configName,
  sha256: HEAD.sha256,
  apply: 'overlay',
  reason: 'CrashLoop',
  message: '',
  at: '2026-01-01T00:00:00Z',
} as const;

const rows: readonly (readonly [
  what: string,
  parts: Partial<RevisionStateQuestion>,
  standing: string,
  because: RegExp | null,
])[] = [
  ['it runs what the revision renders', { wanted: BEFORE }, 'in-place', null],
  ['it runs it, though the revision is not in force', { wanted: BEFORE, source: refused }, 'in-place', null],
  ['the revision was refused', { source: refused }, 'not-in-force', /^b+ was refused: maxChange allows 2$/],
  [
    'the cluster follows another commit',
    { source: { ...NO_STATE, commit: COMMIT_A } },
    'not-in-force',
    /^the cluster follows a+, not b+$/,
  ],
  [
    'git fails, so that the revision was not read yet',
    { source: { ...NO_STATE, commit: COMMIT_A, failingSince: '12:00', failure: 'GIT_TIMEOUT' } },
    'not-in-force',
    /; git fails since 12:00: GIT_TIMEOUT$/,
  ],
  [
    'it waits for its turn',
    { reason: budget },
    'not-yet',
    /^w-\w+ is assigned, and this revision renders w-\w+: maxUnavailable allows 1$/,
  ],
  ['nobody may ask the planner', { source: null }, 'not-yet', /status --why says what it waits for$/],
  [
    'it is at it',
    { node: nodeOf({}, { name: HEAD.configName, sha256: HEAD.sha256 }) },
    'not-yet',
    /is assigned, and the node is still applying it/,
  ],
  [
    'it took it back',
    { node: nodeOf({ rejected: [tried] }), source: refused },
    'failed-here',
    /failed here \(CrashLoop\) and is not tried again$/,
  ],
  [
    'it runs the same laid over its own config, which the revision replaces',
    { wanted: validPool('w', 150, { apply: 'replace' }), reason: budget },
    'not-yet',
    /maxUnavailable allows 1$/,
  ],
  ['no agent says anything', { node: null }, 'unknown', null],
  ['no pool has it', { wanted: null }, 'unknown', null],
];

describe('what a node has of a revision', () => {
  for (const [what, parts, standing, because] of rows) {
    it(`is ${standing} where ${what}`, () => {
      const said = revisionState({ ...QUESTION, ...parts });
      assert.equal(said.standing, standing);
      if (because === null) assert.equal(said.because, null);
      else assert.match(said.because ?? '', because);
    });
  }

  it('is told instead of a flag, which is to blame only where the node runs what the revision renders', () => {
    const say = (parts: Partial<RevisionStateQuestion>, runs: number): string => {
      const explained = explainField({
        field: 'maxPods',
        pool: HEAD,
        files: new Map(),
        kubeletVersion: 'v1.34.2',
        running: { maxPods: runs },
      });
      const standing = revisionState({ ...QUESTION, ...parts });
      const rest = {
        node: 'w-1',
        kubeletVersion: 'v1.34.2',
        commit: null,
        unseen: null,
        agent: null,
        invalidPools: [],
      };
      return explanationAsText({ ...explained, ...rest, standing, choice: { choice: 'pool', pool: 'w' } }, plain);
    };
    for (const [, parts, standing] of rows) {
      const hasFlag = say(parts, 150).includes('--max-pods on its command line');
      assert.equal(hasFlag, standing === 'in-place', JSON.stringify(parts));
    }
    assert.match(
      say({ source: refused }, 150),
      /which is not what the pool says: not in force: b+ was refused: maxChange/,
    );
    assert.match(say({ reason: budget }, 151), /the node does not run what the pool says: not yet: w-/);
    assert.match(
      say({ node: null }, 150),
      /which is not what the pool says: whether the node was given that config is not known/,
    );
  });
});
