import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { intentOf } from '#agent/decide/assignment/intent.ts';
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

  it('is unknown where nothing was decided yet: an object that was lost and made again is no order either', () => {
    assert.deepEqual(intentOf(knode(undefined)), { intent: 'unknown' });
    assert.deepEqual(intentOf(knode(null)), { intent: 'unknown' });
  });

  it('is local where it assigns nothing', () => {
    for (const spec of [{}, { pool: 'general' }, { configSource: null }]) {
      assert.deepEqual(intentOf(knode(spec)), { intent: 'local' });
    }
  });

  it('is the config that it assigns, with the usual terms where it names none', () => {
    const { source } = A;
    assert.deepEqual(intentOf(knode({ configSource: { ...source, surplus: 'left out' } })), {
      intent: 'config',
      config: {
        source,
        apply: 'overlay',
        trial: DEFAULT_TERMS,
        drift: 'repair',
        allowFields: [],
        keepFields: [],
        tolerate: [],
      },
    });
    const spec = {
      pool: 'p',
      commit: 'c',
      configSource: source,
      apply: 'replace',
      trial: { duration: '90s', startTimeout: '5s', maxRestarts: 0 },
      drift: 'report',
      allowFields: ['port'],
      keepFields: ['address'],
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
        keepFields: ['address'],
        tolerate: ['unknown-field'],
        pool: 'p',
        commit: 'c',
      },
    });
  });

  it('brings along what its machine needs to boot, and what a person forgave', () => {
    const reboot = { by: 'systemd', boot: 'boot-1', timeout: '1h' };
    const intent = intentOf(knode({ configSource: A.source, reboot, forgive: '2026-01-01T00:00:00Z' }));
    assert.ok(intent.intent === 'config');
    assert.deepEqual(intent.config.reboot, { by: 'systemd', boot: 'boot-1', timeoutMs: 3_600_000 });
    assert.equal(intent.forgive, '2026-01-01T00:00:00Z');
    const silent = intentOf(knode({ configSource: A.source, forgive: 7 }));
    assert.ok(silent.intent === 'config' && !('forgive' in silent));
  });

  it('may come from a key that begins with dots, and from names of one letter', () => {
    for (const part of [{ key: '..data' }, { key: '.kubelet' }, { name: 'a' }, { namespace: 'a' }]) {
      assert.equal(intentOf(withSource(part)).intent, 'config');
    }
  });

  const hostile: readonly (readonly [keyof ConfigSource, unknown])[] = [
    ['uid', '..'],
    ['uid', '../../etc'],
    ['uid', ''],
    ['uid', undefined],
    ['uid', 7],
    ['resourceVersion', ''],
    ['resourceVersion', undefined],
    ['resourceVersion', 'a/b'],
    ['resourceVersion', '.hidden'],
    ['key', ''],
    ['key', '/bar'],
    ['key', 'x'.repeat(256)],
    ['key', '.'],
    ['key', '..'],
    ['key', 'a/b'],
    ['key', 'a\0b'],
    ['name', '../secrets/x'],
    ['name', 'x'.repeat(300)],
    ['namespace', 'kube-system/../x'],
    ['sha256', 'ABC'],
    ['sha256', 'a'.repeat(63)],
    ['sha256', `${'a'.repeat(64)}/`],
    ['sha256', `/${'a'.repeat(64)}`],
  ];
  for (const [field, value] of hostile) {
    const shown = (JSON.stringify(value) ?? 'missing').slice(0, 30);
    it(`is refused where ${field} is ${shown}`, () => {
      const intent = intentOf(withSource({ [field]: value }));
      assert.ok(
        intent.intent === 'invalid' && intent.failure.message.includes(`spec.configSource.${field} is ${shown}`),
      );
      assert.ok(intent.failure.message.length < 300);
    });
  }

  const senseless: readonly (readonly [field: string, value: unknown])[] = [
    ['apply', 'merge'],
    ['drift', 'ignore'],
    ['trial', { duration: '10 minutes', startTimeout: '2m', maxRestarts: 2 }],
    ['trial', { duration: '1m', startTimeout: '2m', maxRestarts: -1 }],
    ['trial', { duration: 5 }],
    ['allowFields', 'port'],
    ['allowFields', ['port', 7]],
    ['keepFields', 'port'],
    ['keepFields', [null]],
    ['tolerate', 'unknown-field'],
    ['tolerate', ['unknown-field', 7]],
    ['pool', 7],
    ['commit', 7],
    ['reboot', { by: 'nobody' }],
  ];
  it('is refused where it replaces the node’s own config and does not say what stays: an older CRD drops that', () => {
    const intent = intentOf(knode({ configSource: A.source, apply: 'replace' }));
    assert.ok(intent.intent === 'invalid' && intent.failure.message.includes('spec.keepFields is missing'));
    assert.equal(intentOf(knode({ configSource: A.source, apply: 'replace', keepFields: [] })).intent, 'config');
  });

  for (const [field, value] of senseless) {
    it(`is refused where ${field} is ${JSON.stringify(value)}`, () => {
      const intent = intentOf(knode({ configSource: A.source, [field]: value }));
      assert.ok(intent.intent === 'invalid' && intent.failure.message.includes(`spec.${field}`));
      assert.equal(intent.failure.reason, 'InvalidAssignment');
    });
  }
});
