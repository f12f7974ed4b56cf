import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MADE, SETTLED, SOURCE_STATES } from '../reconciler/reporting/source/support/states.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { ARGO, ARGO_LUA, argoHealthOf } from './support/argo-lua.ts';
import { FLUX_CEL, fluxHealthOf } from './support/flux-cel.ts';
import { KSTATUS, kstatusOf } from './support/kstatus.ts';

describeOrSkip('kstatus of the KubeletSource', { skip: KSTATUS.skip }, () => {
  for (const [state, expected, source] of SOURCE_STATES) {
    it(`${expected} where ${state}`, () => {
      const object = source();
      assert.equal(kstatusOf(object), expected, JSON.stringify(object.status));
    });
    it(`${expected} by Flux’s expressions where ${state}`, { skip: FLUX_CEL.skip }, () =>
      assert.equal(fluxHealthOf(source()), expected),
    );
    it(`${ARGO[expected]} for Argo CD where ${state}`, { skip: ARGO_LUA.skip }, () =>
      assert.equal(argoHealthOf(source()).status, ARGO[expected]),
    );
  }

  it('InProgress where the object is newer than its status', () =>
    assert.equal(kstatusOf({ ...SETTLED, metadata: { ...SETTLED.metadata, generation: 2 } }), 'InProgress'));

  // The API server keeps no status of an object that is made: it is written a moment later.
  it('Current for the moment between the making of the object and its first status', () =>
    assert.equal(kstatusOf(MADE), 'Current'));
});
