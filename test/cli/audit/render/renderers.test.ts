import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditReport } from '#cli/audit/audit-report.ts';
import { RENDERERS } from '#cli/audit/render/renderers.ts';
import { fc } from '../../../support/property.ts';
import { anyReport } from './support/any-report.ts';

describe('the renderers of an audit', () => {
  for (const [format, render] of Object.entries(RENDERERS)) {
    it(`give the same for the same report, which they leave as it is: ${format}`, () => {
      fc.assert(
        fc.property(anyReport(), (report) => {
          const before = JSON.stringify(report);
          const text = render(report);
          assert.equal(render(JSON.parse(before) as AuditReport), text);
          assert.equal(JSON.stringify(report), before);
          assert.ok(text.endsWith('\n'));
        }),
        { numRuns: 30 },
      );
    });
  }
});
