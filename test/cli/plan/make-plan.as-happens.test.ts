import { describe, it } from 'node:test';
import { fc, SEED } from '../../support/property.ts';
import { accountsOf, inWorld } from '../../support/real-fleet/accounts.ts';
import { compare } from '../../support/real-fleet/compare-accounts.ts';
import { CHANGES, worlds } from '../../support/real-fleet/random-change.ts';
import { runsOf, sampleOf } from '../../support/sample.ts';

const NAMES = Object.keys(CHANGES);

describe('what plan and simulate say of a commit', () => {
  for (const name of sampleOf(NAMES, 2, SEED)) {
    it(`is what the reconciler and agents make of it: ${name}`, async () => {
      const property = fc.asyncProperty(worlds(name), async (world) =>
        compare(await inWorld(world, (fleet) => accountsOf(fleet, world)), world),
      );
      // To look for the smallest world would take minutes. Each change has worlds of its own.
      const seed = SEED + NAMES.indexOf(name);
      await fc.assert(property, { seed, numRuns: runsOf(8, 8), endOnFailure: true });
    });
  }
});
