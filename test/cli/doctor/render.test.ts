import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DiagnosisSeverity } from '#cli/doctor/diagnosis-codes.ts';
import type { Diagnosis } from '#cli/doctor/diagnosis.ts';
import { doctorAsText } from '#cli/doctor/render.ts';
import type { Paint } from '#cli/paint.ts';

const painted: Paint = (tone, text) => `<${tone} ${text}>`;
const diagnosis = (severity: DiagnosisSeverity): Diagnosis =>
  ({ code: 'some-code', severity, what: 'it is so', why: 'it matters', remedy: 'do this' }) as unknown as Diagnosis;

describe('what doctor found, as text', () => {
  it('is what, why and what to do, an empty line below each, and how many of each severity', () => {
    const found = (['note', 'error', 'error', 'warning'] as const).map(diagnosis);
    const lines = doctorAsText(found, painted).split('\n');
    assert.deepEqual(lines.slice(0, 5), [
      '<quiet note> <strong some-code>: it is so',
      '  it matters',
      '  <strong What to do:> do this',
      '',
      '<bad error> <strong some-code>: it is so',
    ]);
    assert.deepEqual(lines.slice(-3), ['', '<bad 2 errors>, <busy 1 warning>, <quiet 1 note>', '']);
  });

  it('is that nothing is wrong', () => assert.equal(doctorAsText([], painted), '<good nothing is wrong>\n'));
});
