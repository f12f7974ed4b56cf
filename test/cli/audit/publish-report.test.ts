import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AuditReport } from '#cli/audit/audit-report.ts';
import { publishedData } from '#cli/audit/publish-report.ts';
import { AUDIT_REPORT_KEY, AUDIT_SUMMARY_KEY } from '#shared/contract/audit-summary.ts';
import { randomBytes } from 'node:crypto';

const report = (nodes: readonly string[]): AuditReport => ({
  kind: 'AuditReport',
  version: 1,
  at: '2026-11-29T03:00:00Z',
  source: { from: 'direct', of: 'https://api', notes: [] },
  nodes: { seen: 0, of: nodes.length },
  unseen: [{ reason: 'no-answer', because: 'no answer', nodes }],
  sections: [],
});

/** What a ConfigMap may hold. */
const MIB = 1_048_576;

for (const [what, names, fits] of [
  ['a fleet of 5,000', (index: number) => `ip-10-0-${index >> 8}-${index % 256}.eu-central-1.compute.internal`, true],
  ['one that cannot be packed small', () => randomBytes(400).toString('base64'), false],
] as const) {
  it(`the ConfigMap of ${what} holds its report ${fits ? 'whole' : 'not at all, nor an earlier one'}`, () => {
    const { data, binaryData } = publishedData(report(Array.from({ length: 5_000 }, (_, index) => names(index))));
    const packed = binaryData[AUDIT_REPORT_KEY];
    assert.equal(typeof packed === 'string', fits);
    if (!fits) assert.equal(packed, null);
    const summary = data[AUDIT_SUMMARY_KEY] ?? assert.fail();
    const bytes = summary.length + Buffer.from(packed ?? '', 'base64').length;
    assert.ok(bytes < MIB, String(bytes));
    assert.deepEqual(JSON.parse(summary), { at: '2026-11-29T03:00:00Z', nodes: { seen: 0, of: 5_000 }, failed: [] });
  });
}
