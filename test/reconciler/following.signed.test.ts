import assert from 'node:assert/strict';
import { it } from 'node:test';
import { COMMIT_A, COMMIT_B } from '../support/fleet.ts';
import { startProduction } from '../support/following-production.ts';
import { createManualClock } from '../support/manual-clock.ts';

const HOUR_MS = 3_600_000;
const KEY = 'ssh-ed25519 A';
const FOLLOWS = { clusters: ['staging'], settledFor: '24h', signers: { staging: [KEY] } };

/** A cluster that follows one which signs its notes; each look finds the notes of this serial. */
function world() {
  const clock = createManualClock();
  let serial: number | null = 1;
  const following = startProduction(clock, {
    line: () => [COMMIT_A, COMMIT_B],
    notes: () => {
      if (serial === -1) throw new Error('a damaged tree');
      if (serial === null) return { said: new Map(), distrusted: 'are not signed' };
      return { signed: { key: KEY, serial, tip: String(serial).repeat(40) } };
    },
  });
  /** Looks after so many hours. @returns whether the commit is to come into force */
  return async (hours: number, next: number | null = serial): Promise<boolean> => {
    await clock.advance(hours * HOUR_MS);
    serial = next;
    return (await following.choose(FOLLOWS)) === COMMIT_B;
  };
}

it('a commit comes into force while its cluster goes on signing that it is settled', async () => {
  const look = world();
  let isIn = await look(0, 1);
  for (let hour = 1; hour <= 24; hour += 1) {
    assert.equal(isIn, false);
    isIn = await look(1, 1 + hour);
  }
  assert.equal(isIn, true);
});

it('who keeps notes back lets no commit through with ones that were kept back, of before it was taken back', async () => {
  const look = world();
  await look(0, 1);
  // Staging takes it back, in notes that nobody sees.
  await look(4);
  assert.equal(await look(20, 2), false, 'signed in the first hour, and shown now');
  const other = world();
  await other(0, 1);
  await other(1, null);
  assert.equal(await other(23, 2), false, 'hidden behind notes that nobody signed');
  const third = world();
  await third(0, 1);
  await third(1, -1);
  await third(4, -1);
  assert.equal(await third(19, 2), false, 'hidden behind a ref that cannot be read');
});
