import { describe, it } from 'node:test';
import { holdLaws } from '../../support/proof/hold-laws.ts';
import { replayFrom } from '../../support/replayable.ts';
import { runsOf } from '../../support/sample.ts';

/** A seed with which everything that has to come across does so in the few steps of `npm test`; `npm run test:faults` takes all. */
const USUAL = 30_30_30;
const replay = replayFrom(process.env, USUAL);

describe('what a fleet has proven', () => {
  it('is all that anything is decided by, with several pools and kinds of machines', (t) => {
    holdLaws(t, runsOf(200_000, 25), replay, replay.seed === USUAL ? 5 : 0);
  });
});
