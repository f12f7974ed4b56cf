import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPayloadReader } from '#reconciler/policy/payload-reader.ts';
import { configSource, desiredPool, validPool } from '../../support/fleet.ts';

const [OWN, FORMER] = [validPool('workers', 110), validPool('workers', 100)];
const carrying = (payload: string) => configSource(FORMER, { payload, sha256: 'x' });

describe('what a config says', () => {
  const pool = desiredPool(OWN);
  const { payload: _, ...empty } = configSource(FORMER, { sha256: 'x' });
  for (const [name, source, sha256, expected] of [
    ['is known of the pool’s own, before the cluster has it', undefined, OWN.sha256, OWN.value],
    ['is known of any that the cluster has', configSource(FORMER), FORMER.sha256, FORMER.value],
    ['is not known of another', configSource(FORMER), 'y', null],
    ['is not known of none', configSource(FORMER), undefined, null],
    ['is not known where the key is missing', { ...empty, payload: undefined }, 'x', null],
    ['is nothing where it makes no sense', carrying('{'), 'x', null],
    ['is nothing where it is null', carrying('null'), 'x', null],
    ['is nothing where it is a number', carrying('7'), 'x', null],
    ['is nothing where it is a text', carrying('"kind"'), 'x', null],
  ] as const) {
    it(name, () => {
      const payloadOf = createPayloadReader(pool, new Map(source === undefined ? [] : [[source.sha256, source]]));
      assert.deepEqual([payloadOf(sha256), payloadOf(sha256)], [expected, expected], 'also when it is asked again');
    });
  }
});
