import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Finding, formatFinding } from '#shared/contract/finding.ts';

const finding = (more: Partial<Finding>): Finding => ({ code: 'c', severity: 'error', message: 'm', ...more });

describe('a finding as a line', () => {
  it('has its place, and what to write instead', () =>
    assert.equal(
      formatFinding(finding({ file: 'pools/a/kubelet.yaml', line: 3, column: 1, suggestion: 'did you mean x?' })),
      'pools/a/kubelet.yaml:3:1: error c: m (did you mean x?)',
    ));

  it('is short and of whole characters, whatever it quotes: it has to fit into the status of a pool', () => {
    for (const message of ['x'.repeat(200_000), '\u{1f980}'.repeat(100_000), '\u0001'.repeat(50_000)]) {
      const line = formatFinding(finding({ message, file: 'pools/a/kubelet.yaml' }));
      assert.ok(line.length < 1_600, `${line.length}`);
      assert.ok(line.isWellFormed());
      assert.ok(line.endsWith('…'));
    }
  });
});
