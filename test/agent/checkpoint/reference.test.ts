import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { parse } from 'yaml';
import { decodeReference, encodeReference } from '#agent/checkpoint/reference.ts';
import { A } from '../../support/agent/states.ts';
import { documentOf, references } from './support/references.ts';
import { runsOf } from '../../support/sample.ts';

describe('a reference on the disk', () => {
  it('is read back, and by YAML readers as the kind that the kubelet wrote', () => {
    fc.assert(
      fc.property(references, (reference) => {
        const text = encodeReference(reference, 'node-a');
        assert.deepEqual(decodeReference(text, 'node-a'), reference);
        assert.deepEqual(parse(text, { version: '1.1' }), documentOf(reference));
      }),
      { numRuns: runsOf(1_000, 5) },
    );
  });

  it('of the kubelet itself does not say what the bytes have to be, and is none', () => {
    const { kubeletGitops: _, ...ofTheKubelet } = JSON.parse(
      encodeReference({ target: A, promotedAt: null }, 'node-a'),
    );
    assert.throws(() => decodeReference(JSON.stringify(ofTheKubelet), 'node-a'), { code: 'CHECKPOINT_DAMAGED' });
  });
});
