import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { intentOf } from '#agent/decide/assignment/intent.ts';
import type { Intent } from '#agent/decide/observation.ts';
import type { KubeletNodeSpec, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { A, B } from '../../../support/agent/states.ts';

type Wanted = Extract<Intent, { readonly intent: 'config' }>;

/** @param status as the agent before this one left it, in the object's third generation */
function wantedOf(
  status?: Partial<KubeletNodeStatus>,
  spec: Partial<KubeletNodeSpec> = {},
  generation?: number,
): Wanted {
  const intent = intentOf({
    metadata: { name: 'node-1', ...(generation === undefined ? {} : { generation }) },
    spec: { configSource: A.source, ...spec },
    ...(status === undefined ? {} : { status }),
  });
  assert.ok(intent.intent === 'config');
  return intent;
}

const good = ({ source: { name, sha256 } }: typeof A, apply?: 'overlay' | 'replace'): Partial<KubeletNodeStatus> => ({
  observedGeneration: 3,
  lastKnownGood: { name, sha256, ...(apply === undefined ? {} : { apply }) },
});
const asks = (reason: 'StateLost' | 'RunningOther', { source }: typeof A): Partial<KubeletNodeStatus> => ({
  awaitsTurn: { reason, seen: 's1', config: source.sha256, message: 'it waits' },
});

const UNKNOWN: Partial<KubeletNodeStatus> = { observedGeneration: 3, lastKnownGood: { name: 'unknown' } };
const { observedGeneration: _, ...UNCOUNTED } = good(A, 'overlay');

describe('an assignment, as the status of the agent before tells,', () => {
  const rows: readonly (readonly [string, Parameters<typeof wantedOf>, boolean])[] = [
    ['was not carried out where there is no status', [undefined, {}, 3], false],
    ['was carried out where it became good in this generation', [good(A, 'overlay'), {}, 3], true],
    ['was carried out where nobody says how it was laid over', [good(A), {}, 3], true],
    [
      'was not carried out in the way that is wanted now',
      [good(A, 'overlay'), { apply: 'replace', keepFields: [] }, 3],
      false,
    ],
    [
      'was not carried out where it became good before it was taken away and given again',
      [good(A, 'overlay'), {}, 4],
      false,
    ],
    ['was not carried out where nobody counts generations', [UNCOUNTED, {}], false],
    ['was not carried out where another config is good', [good(B, 'overlay'), {}, 3], false],
    ['may have been carried out where that agent did not know what runs', [UNKNOWN, {}, 3], true],
    ['was not carried out where that agent had not heard of it', [UNKNOWN, {}, 4], false],
    ['was not carried out where nothing was good yet', [{ observedGeneration: 3 }, {}, 3], false],
    ['was carried out where that agent had lost its state too, and waits', [asks('StateLost', A), {}, 4], true],
    ['was not carried out where that agent waited with another', [asks('StateLost', B), {}, 4], false],
    ['was not carried out where that agent waited for another reason', [asks('RunningOther', A), {}, 4], false],
  ];
  for (const [what, question, expected] of rows) {
    it(what, () => assert.equal(wantedOf(...question).isSpent ?? false, expected));
  }
});

describe('the turn that a KubeletNode grants', () => {
  it('is named by what the agent saw', () => {
    assert.equal(wantedOf(undefined, { turn: { seen: 's1' } }).turn, 's1');
  });

  it('is none where that cannot be read', () => {
    for (const turn of [undefined, null, {}, { seen: 7 }]) {
      assert.ok(
        !('turn' in wantedOf(undefined, { turn } as unknown as Partial<KubeletNodeSpec>)),
        JSON.stringify(turn),
      );
    }
  });
});
