import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSimulatedClock } from '#reconciler/policy/forecast/simulated-clock.ts';

describe('an agenda', () => {
  /** What is noted down one after the other: when it is due, and a letter. */
  const ROWS: readonly (readonly [string, readonly string[], string])[] = [
    ['in order of time', ['7 b', '9 c', '3 a'], 'abc'],
    ['in the order of the notes where it is due in the same moment', ['5 b', '5 c', '3 a', '9 e', '5 d'], 'abcde'],
  ];
  for (const [name, notes, expected] of ROWS) {
    it(`lets come what is due ${name}`, () => {
      const agenda = createSimulatedClock();
      let come = '';
      for (const note of notes) agenda.at(Number(note[0]), () => (come += note[2]));
      while (agenda.advanceToNext());
      assert.equal(come, expected);
      assert.equal(agenda.now(), 9);
    });
  }
});
