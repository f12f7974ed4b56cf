import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatUnreadableNotes, parseUnreadableNotes } from '#reconciler/reporting/notes/recorded-unreadable-notes.ts';

it('the record has the first twenty notes that cannot be written, a line each', () => {
  const notes = Array.from({ length: 30 }, (_, n) => ({ commit: `c${n}`, because: 'one\nother' }));
  const lines = parseUnreadableNotes(formatUnreadableNotes(notes));
  assert.deepEqual(
    lines,
    notes.slice(0, 20).map(({ commit }) => `${commit}: one other`),
  );
  assert.deepEqual(parseUnreadableNotes(formatUnreadableNotes([])), []);
});
