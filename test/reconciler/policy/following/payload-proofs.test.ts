import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addProofs,
  MOST_PROOF_BYTES,
  type PayloadProof,
  provenIn,
  readProofs,
} from '#reconciler/policy/following/payload-proofs.ts';
import { NOTHING_SHOWN, writeProof } from '#reconciler/policy/proof/record.ts';
import { fc } from '../../../support/property.ts';

const proof = (n: number, pool = 'general', name = ''): PayloadProof => ({
  pool,
  class: name,
  payload: `overlay ${n.toString(16).padStart(64, '0')}`,
});
const file = (...proofs: readonly PayloadProof[]): string => addProofs('staging', null, proofs);

describe('the file of what a cluster has proven', () => {
  it('is read as it was written, and keeps what was proven before', () => {
    const both = addProofs('staging', file(proof(1)), [proof(2), proof(3, 'gpu', 'cpu=4')]);
    assert.deepEqual(readProofs(both, 'staging'), {
      isWhole: true,
      proofs: [proof(1), proof(2), proof(3, 'gpu', 'cpu=4')],
    });
    assert.deepEqual(readProofs(addProofs('staging', both, [proof(1)]), 'staging')?.proofs.at(-1), proof(1), 'once');
    assert.equal(
      addProofs('staging', both, [proof(2), proof(3, 'gpu', 'cpu=4')]),
      both,
      'the same again changes nothing',
    );
  });

  it('leaves the oldest out where there is no room, and says so where the present ones do not fit', () => {
    const many = Array.from({ length: 1_200 }, (_, n) => proof(n, 'p', `class-${n}`));
    let text: string | null = null;
    for (let at = 0; at < 1_200; at += 100) text = addProofs('staging', text, many.slice(at, at + 100));
    const kept = readProofs(text, 'staging');
    assert.deepEqual([kept?.isWhole, kept?.proofs.length, kept?.proofs.at(-1)], [true, 1_000, many.at(-1)]);
    assert.equal(readProofs(file(...many), 'staging')?.isWhole, false);
    const long = Array.from({ length: 900 }, (_, n) => proof(n, 'p', `${n}${'x'.repeat(800)}`));
    const cut = file(...long);
    assert.ok(Buffer.byteLength(cut) <= MOST_PROOF_BYTES);
    assert.equal(readProofs(cut, 'staging')?.isWhole, false);
    const over = addProofs('staging', cut, [proof(9_999)]);
    assert.ok(Buffer.byteLength(over) <= MOST_PROOF_BYTES);
    assert.deepEqual(
      [readProofs(over, 'staging')?.isWhole, readProofs(over, 'staging')?.proofs.at(-1)],
      [true, proof(9_999)],
    );
  });

  it('is none where it is of another cluster or damaged, and not whole where something is missing', () => {
    const text = file(proof(1), proof(2));
    assert.equal(readProofs(text, 'canary'), null);
    for (const wrong of [null, '', '[]', 'null', '{}', text.slice(0, -2), text.replace('payloads/v1', 'payloads/v2')])
      assert.equal(readProofs(wrong, 'staging'), null, String(wrong));
    assert.equal(readProofs(text.replace('"count":2', '"count":3'), 'staging')?.isWhole, false);
    assert.equal(readProofs(text.replace('"pool":"general"', '"pool":7'), 'staging')?.isWhole, false);
    fc.assert(fc.property(fc.json(), (json) => void readProofs(json, 'staging')));
  });

  it('has what each class has proven last, and nothing of what is only tried', () => {
    const [tried, had] = [proof(1), proof(2)].map(({ payload }) => ({
      sha256: payload.slice(8),
      apply: 'overlay' as const,
    }));
    const classes = [
      { ...NOTHING_SHOWN, name: 'cpu=4', state: 'canaries' as const, current: tried ?? null, proven: had ?? null },
      { ...NOTHING_SHOWN, name: 'cpu=8', state: 'rolling' as const, current: tried ?? null },
    ];
    assert.deepEqual(
      provenIn([
        ['general', { proof: writeProof(classes) }],
        ['new', undefined],
      ]),
      [proof(2, 'general', 'cpu=4')],
    );
  });
});
