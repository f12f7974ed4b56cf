import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AUDIT_SUMMARY_KEY,
  type AuditSummary,
  readAuditSummary,
  sayAudit,
  SECTION_IDS,
  SEVERITIES,
} from '#shared/contract/audit-summary.ts';
import { fc } from '../../support/property.ts';

const inMap = (text: unknown): AuditSummary | null =>
  readAuditSummary({ metadata: { name: 'a' }, data: { [AUDIT_SUMMARY_KEY]: text } } as never);

const SUMMARY: AuditSummary = {
  at: '2026-11-29T03:04:05.000Z',
  nodes: { seen: 58, of: 60 },
  failed: [
    { section: 'safety', severity: 'high', checks: 1 },
    { section: 'room', severity: 'high', checks: 2 },
    { section: 'room', severity: 'low', checks: 4 },
  ],
};

describe('the summary of an audit', () => {
  it('is read as it was written', () => {
    const summaries = fc.record({
      at: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }).map((at) => at.toISOString()),
      nodes: fc.record({ seen: fc.nat(), of: fc.nat() }),
      failed: fc.array(
        fc.record({
          section: fc.constantFrom(...SECTION_IDS),
          severity: fc.constantFrom(...SEVERITIES),
          checks: fc.nat(),
        }),
        { maxLength: 15 },
      ),
    });
    fc.assert(
      fc.property(summaries, (summary) => {
        const text = JSON.stringify(summary);
        assert.equal(JSON.stringify(inMap(text)), text);
      }),
    );
  });

  it('of anything else is none, or of known words and counts alone', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.anything()), (text) => {
        assert.equal(inMap(text), null);
      }),
    );
    assert.equal(readAuditSummary(null), null);
    assert.equal(readAuditSummary({ metadata: { name: 'a' } }), null);
    assert.equal(inMap(JSON.stringify({ ...SUMMARY, padding: 'x'.repeat(10_000) })), null);
    const odd = [
      { section: 'x"} 1', severity: 'high', checks: 1 },
      { section: 'room', severity: 'x', checks: 1 },
      { section: 'room', severity: 'high', checks: -1 },
      { section: 'room', severity: 'high', checks: 1e99 },
      null,
    ];
    assert.deepEqual(inMap(JSON.stringify({ ...SUMMARY, failed: odd }))?.failed, []);
  });

  it('is a sentence', () => {
    assert.equal(sayAudit(SUMMARY), '7 checks failed (3 high, 4 low) on 58 of 60 nodes, at 2026-11-29 03:04 UTC');
    assert.equal(sayAudit({ ...SUMMARY, failed: [] }), 'no checks failed on 58 of 60 nodes, at 2026-11-29 03:04 UTC');
  });
});
