import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Member, memberOf } from '#reconciler/policy/rollout/membership.ts';
import { withPreflightOrder, preflightBeforeDrain } from '#reconciler/policy/rollout/preflight-order.ts';
import type {
  KubeletNode,
  KubeletNodeSpec,
  PreflightAnswer,
  PreflightOrder,
} from '#shared/contract/api/kubelet-node.ts';
import { assignedNode, nodeView, NOW, validPool } from '../../../support/fleet.ts';

const [OLD, NEXT] = [validPool('workers', 110), validPool('workers', 120)];
const SOURCE = { namespace: 'n', name: 'workers-1', uid: 'u', resourceVersion: '7', key: 'kubelet', sha256: 's' };
const node = nodeView('a', 'workers');
const told = assignedNode(node, OLD);
const SPEC: KubeletNodeSpec = { pool: 'workers', configSource: SOURCE, apply: 'overlay' };
const ORDER: PreflightOrder = { configSource: SOURCE, apply: 'overlay' };

describe('the question to an agent', () => {
  const ask = (present: PreflightOrder | undefined, spec: KubeletNodeSpec, retry?: string) =>
    withPreflightOrder({ ...told, spec: { ...told.spec, ...(present && { preflight: present }) } }, spec, retry);

  it('has the config and how it is laid over, and what a pool allows only where it says so', () => {
    assert.deepEqual(ask(undefined, SPEC), { ...told.spec, preflight: ORDER });
    const more = { allowFields: ['port'], keepFields: ['address'], tolerate: ['wrong-case'] } as const;
    assert.deepEqual(ask(undefined, { ...SPEC, ...more }, 'T1')?.preflight, { ...ORDER, ...more, retry: 'T1' });
    const { apply: _, ...short } = SPEC;
    assert.deepEqual(ask(undefined, short)?.preflight, { configSource: SOURCE });
    assert.deepEqual(
      withPreflightOrder({ metadata: told.metadata }, SPEC, undefined),
      { preflight: ORDER },
      'of one told nothing',
    );
    assert.equal(ask(undefined, { pool: 'workers' }), null, 'there is nothing to ask about');
  });

  const { apply: _, ...unsaid } = ORDER;
  const { apply: _a, ...unsaidSpec } = SPEC;
  const rows: readonly (readonly [string, PreflightOrder, KubeletNodeSpec, boolean])[] = [
    ['the same', ORDER, SPEC, false],
    [
      'the same in another version of its ConfigMap',
      { ...ORDER, configSource: { ...SOURCE, resourceVersion: '8' } },
      SPEC,
      false,
    ],
    ['what is usual without saying so', unsaid, SPEC, false],
    ['what is usual, and now nobody says so', ORDER, unsaidSpec, false],
    ['the same words', { ...ORDER, allowFields: ['a', 'b'] }, { ...SPEC, allowFields: ['a', 'b'] }, false],
    ['no words, written down', { ...ORDER, tolerate: [] }, SPEC, false],
    ['another name', { ...ORDER, configSource: { ...SOURCE, name: 'x' } }, SPEC, true],
    ['a ConfigMap made again', { ...ORDER, configSource: { ...SOURCE, uid: 'x' } }, SPEC, true],
    ['other bytes', { ...ORDER, configSource: { ...SOURCE, sha256: 'x' } }, SPEC, true],
    ['another way', { ...ORDER, apply: 'replace' }, SPEC, true],
    ['other fields kept', { ...ORDER, keepFields: ['a'] }, { ...SPEC, keepFields: ['b'] }, true],
    ['other fields allowed', { ...ORDER, allowFields: ['a'] }, { ...SPEC, allowFields: ['b'] }, true],
    [
      'other fields of the same letters',
      { ...ORDER, allowFields: ['ab', 'c'] },
      { ...SPEC, allowFields: ['a', 'bc'] },
      true,
    ],
    ['other mistakes tolerated', { ...ORDER, tolerate: ['a'] }, SPEC, true],
    ['the try before', { ...ORDER, retry: 'T1' }, SPEC, true],
  ];
  for (const [what, present, spec, isAsked] of rows) {
    it(`${isAsked ? 'is asked again' : 'is not asked again'} where it was about ${what}`, () => {
      assert.equal(ask(present, spec) !== null, isAsked);
    });
  }
});

describe('before its pods are told to leave, a node', () => {
  const target = { sha256: NEXT.sha256, apply: 'overlay' } as const;
  const answer = (given: Partial<PreflightAnswer>): KubeletNode => ({
    ...told,
    status: { ...told.status, preflight: { ...target, outcome: 'ready', ...given } },
  });
  const ready = answer({});
  const { metadata, spec = {}, status = {} } = ready;
  const rows: readonly (readonly [string, KubeletNode | undefined, Partial<Member>, string | null])[] = [
    ['is asked', ready, {}, 'its agent checks the config before its pods are told to leave'],
    [
      'is asked once more where a person forgave what it said',
      ready,
      { forgive: true },
      'its agent checks the config once more, before its pods are told to leave',
    ],
    [
      'is waited for where it cannot check yet',
      answer({ outcome: 'unavailable', message: 'no Node' }),
      {},
      'its agent cannot check the config yet: no Node',
    ],
    ['need not say why', answer({ outcome: 'unavailable' }), {}, 'its agent cannot check the config yet: '],
    ['that said yes is not asked', answer({ outcome: 'passed' }), {}, null],
    ['is not asked about its local config', ready, { target: null }, null],
    ['with an agent that cannot be asked is not', told, {}, null],
    ['that was told no config is not asked', { metadata, spec: { pool: 'workers' }, status }, {}, null],
    ['that was told nothing is not asked', { metadata, status }, {}, null],
    ['that never reported is not asked', { metadata, spec }, {}, null],
    ['that nobody made an object for is not asked', undefined, {}, null],
  ];
  for (const [name, is, more, expected] of rows) {
    it(name, () => {
      const verdict = preflightBeforeDrain({ ...memberOf(node, is, target, 0, NOW), ...more });
      const asks = { verdict: 'drain', stage: 'preflight', because: expected };
      assert.deepEqual(verdict, expected === null ? null : asks);
    });
  }

  it('says no more than four hundred characters of it', () => {
    const is = answer({ outcome: 'unavailable', message: 'x'.repeat(500) });
    const verdict = preflightBeforeDrain(memberOf(node, is, target, 0, NOW));
    assert.ok(verdict?.verdict === 'drain' && verdict.because.endsWith(`: ${'x'.repeat(400)}`));
    assert.ok(!verdict.because.includes('x'.repeat(401)));
  });
});
