import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { intentOf } from '#agent/decide/assignment/assignment.ts';
import { DEFAULT_TERMS } from '#agent/decide/assignment/terms.ts';
import type { ConfigSource, KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { A } from '../../../support/agent/states.ts';

const knode = (spec?: unknown): KubeletNode =>
  ({ metadata: { name: 'node-1' }, ...(spec === undefined ? {} : { spec }) }) as KubeletNode;
const withSource = (part: Readonly<Record<string, unknown>>): KubeletNode =>
  knode({ configSource: { ...A.source, ...part } });

describe('what a KubeletNode wants', () => {
  it('is unknown where there is none: absence is not an order', () => {
    assert.deepEqual(intentOf(null), { intent: 'unknown' });
  });

  it('is unknown where nothing was decided yet: an object that was lost and made anew is no order either', () => {
    assert.deepEqual(intentOf(knode(undefined)), { intent: 'unknown' });
  });

  it('is local where it assigns nothing', () => {
    for (const spec of [{}, { pool: 'general' }, { configSource: null }]) {
      assert.deepEqual(intentOf(knode(spec)), { intent: 'local' });
    }
  });

  it('is the config that it assigns, with the usual terms where it names none', () => {
    const { source } = A;
    assert.deepEqual(intentOf(knode({ configSource: source })), {
      intent: 'config',
      config: { source, apply: 'overlay', trial: DEFAULT_TERMS, drift: 'repair', allowFields: [], tolerate: [] },
    });
    const spec = {
      pool: 'p',
      commit: 'c',
      configSource: source,
      apply: 'replace',
      trial: { duration: '90s', startTimeout: '5s', maxRestarts: 0 },
      drift: 'report',
      allowFields: ['port'],
      tolerate: ['unknown-field'],
    };
    assert.deepEqual(intentOf(knode(spec)), {
      intent: 'config',
      config: {
        source,
        apply: 'replace',
        trial: { durationMs: 90_000, startTimeoutMs: 5_000, maxRestarts: 0 },
        drift: 'report',
        allowFields: ['port'],
        tolerate: ['unknown-field'],
        pool: 'p',
        commit: 'c',
      },
    });
  });

  const hostile: readonly (readonly [keyof ConfigSource, unknown])[] = [
    ['uid', '..'],
    ['uid', '../../etc'],
    ['uid', ''],
    ['uid', undefined],
    ['uid', 7],
    ['resourceVersion', 'a/b'],
    ['resourceVersion', '.hidden'],
    ['key', '..'],
    ['key', 'a/b'],
    ['key', 'a\0b'],
    ['name', '../secrets/x'],
    ['name', 'x'.repeat(300)],
    ['namespace', 'kube-system/../x'],
    ['sha256', 'ABC'],
    ['sha256', 'a'.repeat(63)],
  ];
  for (const [field, value] of hostile) {
    it(`is refused where ${field} is ${(JSON.stringify(value) ?? 'missing').slice(0, 30)}`, () => {
      const intent = intentOf(withSource({ [field]: value }));
      assert.ok(intent.intent === 'invalid' && intent.failure.message.includes(`spec.configSource.${field}`));
      assert.ok(intent.failure.message.length < 300);
    });
  }

  it('is refused where the terms or the way to apply it make no sense', () => {
    const { source } = A;
    for (const part of [
      { apply: 'merge' },
      { trial: { duration: '10 minutes', startTimeout: '2m', maxRestarts: 2 } },
      { trial: { duration: '1m', startTimeout: '2m', maxRestarts: -1 } },
      { trial: { duration: 5 } },
    ]) {
      assert.equal(intentOf(knode({ configSource: source, ...part })).intent, 'invalid');
    }
  });
});
