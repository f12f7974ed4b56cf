import { describe, it } from 'node:test';
import { holdLaws } from '../support/proof/hold-laws.ts';
import { replayFrom } from '../support/replayable.ts';

/** Another seed than that of `npm test`. */
const replay = replayFrom(process.env, 30_30_32);

describe('what a fleet has proven', () => {
  it('is all that anything is decided by, in 200,000 steps with several pools and kinds of machines', (t) => {
    holdLaws(t, 200_000, replay, replay.path === undefined ? 100 : 0);
  });
});
