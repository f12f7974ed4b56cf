import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AuditReport, BOUNDS, type CheckResult, type Evidence } from '#cli/audit/audit-report.ts';
import { checkOf, type Rule, sectionOf, type Verdict } from '#cli/audit/checks.ts';
import { compareReports, parseReport } from '#cli/audit/compare-reports.ts';
import { isFailed } from '#cli/audit/make-report.ts';
import { fc } from '../../support/property.ts';
import { nodesOf } from './support/facts.ts';

const rule = (id: string): Rule => ({ id, title: id, severity: 'medium', references: [] });

type Fleet = Readonly<Record<string, CheckResult | 'unseen' | 'absent'>>;

/** A report with one check of the section `safety`. */
function reportOf(fleet: Fleet): AuditReport {
  const seen = Object.entries(fleet).flatMap(([name, result]) =>
    result === 'unseen' || result === 'absent' ? [] : [[name, { result, evidence: [] }] as const],
  );
  const unseen = Object.keys(fleet).filter((name) => fleet[name] === 'unseen');
  return {
    kind: 'AuditReport',
    version: 1,
    at: '2026-11-29T12:00:00Z',
    source: { from: 'files', of: '', notes: [] },
    nodes: { seen: seen.length, of: seen.length + unseen.length },
    unseen: unseen.length === 0 ? [] : [{ reason: 'no-answer', because: 'away', nodes: unseen }],
    sections: [sectionOf({ id: 'safety', title: '', summary: '', checks: [checkOf(rule('safety/a'), seen)] })],
  };
}

const fleets = fc.record(
  Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [
      name,
      fc.constantFrom<Fleet[string]>('fail', 'not-visible', 'info', 'pass', 'unseen', 'absent'),
    ]),
  ),
);

describe('what changed between two audits', () => {
  it('is new where it fails now and did not before, and gone where it is seen not to fail, or its node is no more', () => {
    fc.assert(
      fc.property(fleets, fleets, (before, now) => {
        const { fresh, gone } = compareReports(reportOf(before), reportOf(now));
        const names = (of: typeof fresh) => of.flatMap(({ nodes }) => nodes);
        for (const name of Object.keys(before)) {
          const [then, here] = [before[name], now[name]];
          assert.equal(names(fresh).includes(name), here === 'fail' && then !== 'fail', `fresh ${name}`);
          const isGone = then === 'fail' && (here === 'pass' || here === 'info' || here === 'absent');
          assert.equal(names(gone).includes(name), isGone, `gone ${name}`);
        }
      }),
    );
  });

  it('is nothing between a report and itself, as JSON brings it back', () => {
    fc.assert(
      fc.property(fleets, (fleet) => {
        const report = reportOf(fleet);
        const read = parseReport(JSON.stringify(report), 'last.json');
        assert.deepEqual(compareReports(read, report), { at: report.at, fresh: [], gone: [] });
      }),
    );
  });

  it('is not said of a section that was not made now, nor of what another check of the section cannot see', () => {
    const before = reportOf({ a: 'fail' });
    assert.deepEqual(compareReports(before, { ...reportOf({ a: 'pass' }), sections: [] }).gone, []);
    const check = checkOf(rule('safety/version'), [['a', { result: 'not-visible', evidence: [] }]]);
    const blind = { ...reportOf({}), sections: [sectionOf({ id: 'safety', title: '', summary: '', checks: [check] })] };
    assert.deepEqual(compareReports(before, blind).gone, []);
  });

  it('is read of nothing but a report', () => {
    for (const text of ['', '[]', '{}', '{"kind":"AuditReport"}', '{"kind":"AuditReport","version":2}'])
      assert.throws(() => parseReport(text, 'last.json'), { code: 'NO_AUDIT' }, text);
    fc.assert(
      fc.property(fc.json(), (text) => {
        assert.throws(() => parseReport(text, 'last.json'), { code: 'NO_AUDIT' });
      }),
    );
  });
});

describe('whether an audit failed', () => {
  it('goes by severity, and by nodes that should have been seen', () => {
    const fails = reportOf({ a: 'fail' });
    assert.deepEqual(
      (['low', 'medium', 'high', undefined] as const).map((least) => isFailed(fails, least)),
      [true, true, false, false],
    );
    assert.equal(isFailed(reportOf({ a: 'unseen', b: 'pass' }), 'high'), true);
    assert.equal(isFailed(reportOf({ a: 'not-visible', b: 'info' }), 'low'), false);
    const away = { ...reportOf({ b: 'pass' }), unseen: [{ reason: 'not-ready', because: '', nodes: ['a'] }] as const };
    assert.equal(isFailed(away, 'low'), false);
  });
});

describe('an earlier report', () => {
  const check = { id: 'safety/a', title: 'A', severity: 'low', groups: [{ result: 'fail', nodes: ['n'] }] };
  const text = (more: object): string =>
    JSON.stringify({ kind: 'AuditReport', version: 1, at: '', sections: [{ checks: [{ ...check, ...more }] }] });

  it('is taken with all that is said of it, and refused without', () => {
    assert.ok(parseReport(text({}), 'x'));
    for (const more of [
      { title: null },
      { severity: 'urgent' },
      { groups: [{ result: 'fail', nodes: [5] }] },
      { id: 1 },
    ])
      assert.throws(() => parseReport(text(more), 'x'), { code: 'NO_AUDIT' });
  });
});

const evidences = fc.array(fc.record({ field: fc.constantFrom('a', 'b'), value: fc.string({ maxLength: 3 }) }), {
  maxLength: BOUNDS.evidence + 3,
});
const verdicts = fc.array(
  fc.record({ result: fc.constantFrom<CheckResult>('fail', 'not-visible', 'info', 'pass'), evidence: evidences }),
  { maxLength: 80 },
);

describe('a check over many nodes', () => {
  it('has each node once under its own result, whatever is joined, and no more than its bounds', () => {
    fc.assert(
      fc.property(verdicts, (all: readonly Verdict[]) => {
        const named = all.map((verdict, index) => [`n${index}`, verdict] as const);
        const check = checkOf(rule('x'), named);
        assert.ok(check.groups.length <= BOUNDS.groups);
        for (const { evidence } of check.groups) assert.ok(evidence.length <= BOUNDS.evidence);
        for (const result of ['fail', 'not-visible', 'info'] as const)
          assert.deepEqual(
            nodesOf(check, result),
            named.flatMap(([name, of]) => (of.result === result ? [name] : [])).sort(),
          );
        const passed = check.groups.filter(({ result }) => result === 'pass');
        assert.equal(
          passed.reduce((sum, { count }) => sum + count, 0),
          all.filter(({ result }) => result === 'pass').length,
        );
        for (const { nodes } of passed) assert.ok(nodes.length <= BOUNDS.passedNames);
      }),
    );
  });

  it('names the place of evidence only where all of the group have it there', () => {
    const at = (place: string): Verdict => ({ result: 'fail', evidence: [{ field: 'f', value: '1', place }] });
    const evidenceOf = (...places: readonly string[]): readonly Evidence[] | undefined =>
      checkOf(
        rule('x'),
        places.map((place, index) => [`n${index}`, at(place)] as const),
      ).groups[0]?.evidence;
    assert.deepEqual(evidenceOf('a', 'a'), [{ field: 'f', value: '1', place: 'a' }]);
    assert.deepEqual(evidenceOf('a', 'b'), [{ field: 'f', value: '1' }]);
  });
});
