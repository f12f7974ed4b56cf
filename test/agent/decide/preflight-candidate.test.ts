import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { preflightRequestOf } from '#agent/decide/assignment/preflight-request.ts';
import { DEFAULT_TERMS } from '#agent/decide/assignment/terms.ts';
import { candidateFromMemory } from '#agent/decide/preflight-candidate.ts';
import type { TriedCandidate } from '#agent/decide/process-memory.ts';
import type { Candidate, Observation, StageResult } from '#agent/decide/observation.ts';
import { preflightAnswer, keepAnswerTime } from '#agent/report/preflight-answer.ts';
import type { KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import { table } from '../../support/agent/decision-table.ts';
import { A, AT, B, C, idle, judging, onTrial, seen, wanting } from '../../support/agent/states.ts';

const FAILURE = { reason: 'PreflightFailed', message: 'there is no such cgroup' } as const;
const passed: StageResult = { outcome: 'ready', warnings: [] };
const refused: StageResult = { outcome: 'refused', failure: FAILURE };
const unavailable: StageResult = { outcome: 'unavailable', failure: FAILURE };
const asked = (result: StageResult | null = null, parts: Partial<Candidate> = {}): Pick<Observation, 'candidate'> => ({
  candidate: { config: B, retry: '', result, retryInMs: 0, ...parts },
});

table('a node that is asked about a config before its pods leave', {
  'checks it at rest, and changes nothing': [idle(A), seen(wanting(A), asked()), 'idle: A → check B'],
  'checks it once': [idle(A), seen(wanting(A), asked(passed)), 'idle: A'],
  'does not check again what it refused': [idle(A), seen(wanting(A), asked(refused)), 'idle: A'],
  'checks again what could not be checked, in its time': [
    idle(A),
    seen(wanting(A), asked(unavailable)),
    'idle: A → check B',
  ],
  'waits for that time': [idle(A), seen(wanting(A), asked(unavailable, { retryInMs: 1 })), 'idle: A'],
  'does not check it when it is to be given up': [
    idle(null),
    seen(wanting(null), asked(), { leaving: 'asked' }),
    'idle: local → leave',
  ],
  'has other things to do in a trial': [
    onTrial(judging(), { config: C }),
    seen(wanting(C), asked()),
    'trial (judge): C, good A',
  ],
});

const node = (preflight: unknown) => ({
  metadata: { name: 'n' },
  spec: { pool: 'general', preflight } as unknown as KubeletNodeSpec,
});

describe('what a node is asked about', () => {
  it('is the config of the order, on default terms', () => {
    const lists = { allowFields: ['port'], keepFields: ['address'], tolerate: ['typo'] };
    const order = { configSource: B.source, apply: 'replace', ...lists, retry: AT };
    const terms = { source: B.source, trial: DEFAULT_TERMS, drift: 'repair' };
    assert.deepEqual(preflightRequestOf(node(order)), {
      config: { ...terms, apply: 'replace', ...lists },
      retry: AT,
    });
    assert.deepEqual(preflightRequestOf(node({ configSource: B.source })), {
      config: { ...terms, apply: 'overlay', allowFields: [], keepFields: [], tolerate: [] },
      retry: '',
    });
  });

  it('is nothing where there is no order, or none that can be read', () => {
    const bad = [undefined, null, 'x', {}, { configSource: { ...B.source, uid: '../..' } }];
    for (const order of [...bad, { configSource: B.source, retry: 7 }]) {
      assert.equal(preflightRequestOf(node(order)), null, JSON.stringify(order));
    }
    assert.equal(preflightRequestOf(null), null);
    assert.equal(preflightRequestOf({ metadata: { name: 'n' } }), null);
  });
});

describe('what came of an earlier check', () => {
  const tried: TriedCandidate = { config: B, result: refused, retryAt: 500, faults: 0, retry: '' };
  const recalled = (config: typeof B, retry: string) => candidateFromMemory({ config, retry }, tried, 200);

  it('counts for the same question only', () => {
    assert.deepEqual(recalled(B, '')?.result, refused);
    assert.equal(recalled(B, '')?.retryInMs, 300);
    assert.equal(recalled(C, '')?.result, null);
    assert.equal(recalled(B, AT)?.result, null, 'a person wants to have it checked once more');
    assert.equal(candidateFromMemory(null, tried, 200), null);
    const first = { config: B, retry: '' };
    assert.deepEqual(candidateFromMemory(first, null, 200), { ...first, result: null, retryInMs: 0 });
  });
});

describe('the answer', () => {
  const answerTo = (parts: Pick<Observation, 'candidate'>, at = AT) => preflightAnswer({ ...parts, at });
  const about = { sha256: B.source.sha256, apply: 'overlay' } as const;

  it('says that the agent can be asked, until there is one', () => {
    assert.deepEqual(answerTo({ candidate: null }), { outcome: 'ready' });
    assert.deepEqual(answerTo(asked()), { outcome: 'ready', ...about });
    const config = { ...B, apply: 'replace', keepFields: ['port'] } as const;
    const kept = { ...about, apply: 'replace', keepFields: ['port'] };
    assert.deepEqual(answerTo(asked(null, { config })), { outcome: 'ready', ...kept });
  });

  it('names the config, and the reason of a refusal', () => {
    assert.deepEqual(answerTo(asked(passed)), { outcome: 'passed', ...about, at: AT });
    assert.deepEqual(answerTo(asked(refused, { retry: AT })), {
      outcome: 'refused',
      ...about,
      retry: AT,
      ...FAILURE,
      at: AT,
    });
    assert.equal(answerTo(asked(unavailable)).outcome, 'unavailable');
  });

  it('keeps its time while it is the same, over a restart of the agent as well', () => {
    const [then, later] = [answerTo(asked(refused)), answerTo(asked(refused), '2026-01-01T01:00:00Z')];
    assert.equal(keepAnswerTime(later, then), then);
    assert.equal(keepAnswerTime(later, null), later);
    assert.equal(keepAnswerTime(answerTo(asked()), then), then, 'this agent has yet to check');
    const nothing = answerTo({ candidate: null });
    assert.equal(keepAnswerTime(nothing, then), nothing, 'nothing is asked any more');
    const again = answerTo(asked(refused, { retry: AT }), '2026-01-01T01:00:00Z');
    assert.equal(keepAnswerTime(again, then), again, 'a refusal that was asked for again is another one');
  });
});
