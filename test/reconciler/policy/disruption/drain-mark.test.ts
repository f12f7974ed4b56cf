import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CORDONED_ANNOTATION, DRAIN_FAILED_ANNOTATION } from '#shared/contract/api/group.ts';
import {
  cordonPatch,
  formatFailed,
  formatMark,
  parseFailed,
  parseMark,
  uncordonPatch,
} from '#reconciler/policy/disruption/drain-mark.ts';

const MARK = { config: 'general-7k2mh5gf8d', at: Date.parse('2026-11-21T12:00:00Z') };
const TEXT = 'general-7k2mh5gf8d@2026-11-21T12:00:00Z';
const NODE = { uid: 'u', resourceVersion: '7' };

describe('the mark of a drain', () => {
  it('is read as it was written', () => {
    assert.equal(formatMark(MARK), TEXT);
    assert.deepEqual(parseMark(TEXT), MARK);
    assert.deepEqual(parseMark('a@b@2026-11-21T12:00:00Z'), { ...MARK, config: 'a@b' });
    assert.deepEqual(parseMark('a@2026-11-21T12:00:00Z'), { ...MARK, config: 'a' });
  });

  it('says how many drains in a row were given up, where that is more than one', () => {
    for (const [times, text] of [
      [1, TEXT],
      [2, `${TEXT}#2`],
      [999, `${TEXT}#999`],
    ] as const) {
      assert.equal(formatFailed({ ...MARK, times }), text);
      assert.deepEqual(parseFailed(text), { ...MARK, times });
    }
    assert.equal(parseFailed(`${TEXT}#0`)?.times, 1);
    for (const text of [`${TEXT}#1000`, `${TEXT}#-1`, `${TEXT}#`, 'by hand#2'])
      assert.equal(parseFailed(text), undefined);
  });

  for (const text of ['', 'by hand', '@2026-11-21T12:00:00Z', '2026-11-21T12:00:00Z', 'general@soon', 'general@']) {
    it(`is none of ours where a person wrote ${JSON.stringify(text)}`, () => assert.equal(parseMark(text), undefined));
  }

  it('is written with the cordon, and taken away with it', () => {
    assert.deepEqual(cordonPatch(NODE, MARK), {
      metadata: { ...NODE, annotations: { [CORDONED_ANNOTATION]: TEXT } },
      spec: { unschedulable: true },
    });
    assert.deepEqual(uncordonPatch(NODE, null), {
      metadata: { ...NODE, annotations: { [CORDONED_ANNOTATION]: null, [DRAIN_FAILED_ANNOTATION]: null } },
      spec: { unschedulable: null },
    });
  });

  it('stays as one of a drain that failed', () => {
    assert.deepEqual(uncordonPatch(NODE, { ...MARK, times: 1 })['metadata'], {
      ...NODE,
      annotations: { [CORDONED_ANNOTATION]: null, [DRAIN_FAILED_ANNOTATION]: TEXT },
    });
  });
});
