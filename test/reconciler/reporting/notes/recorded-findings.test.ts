import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readFindings, writeFindings } from '#reconciler/reporting/notes/recorded-findings.ts';
import { type Finding, isWarningLine } from '#shared/contract/finding.ts';

const found = (severity: Finding['severity'], file: string): Finding => ({
  code: 'odd',
  severity,
  message: 'odd',
  file,
});

it('records errors and nodes left alone before warnings, of which there may be more than there is room for', () => {
  const warnings = Array.from({ length: 30 }, (_, index) => found('warning', `docs/${index}`));
  const lines = readFindings(writeFindings([...warnings, found('error', 'clusters/a.yaml')], ['n1 is left as it is']));
  assert.deepEqual(lines.slice(0, 2), ['clusters/a.yaml: error odd: odd', 'n1 is left as it is']);
  assert.equal(lines.length, 20);
  assert.deepEqual(lines.map(isWarningLine).indexOf(true), 2);
});

it('has nothing to say of a commit that is in order', () => {
  assert.equal(writeFindings([], []), '');
  assert.deepEqual(readFindings(''), []);
});
