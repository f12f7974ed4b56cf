import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Annotator } from '#reconciler/git/notes/annotator.ts';
import { GitError } from '#reconciler/git/errors.ts';
import { noteRefused } from '#reconciler/telling/report/note.ts';
import { createNotes, type Notes } from '#reconciler/telling/report/notes.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const NEVER = new AbortController().signal;
const oid = (n: number): string => n.toString(16).padStart(40, '0');
const noteOn = (n: number, why = 'no reason') => noteRefused('prod', oid(n), why);

/** A repository that notes can be written to, and one that takes none for as long as somebody says so. */
function repository() {
  let isReadOnly = false;
  const held = new Map<string, string>();
  const pushes: number[] = [];
  const annotator: Annotator = {
    ref: 'refs/notes/kubelet-gitops/prod',
    annotate(notes) {
      pushes.push(notes.size);
      if (isReadOnly) return Promise.reject(new GitError('GIT_FORBIDDEN', 'the credential may not write'));
      for (const [commit, text] of notes) held.set(commit, text);
      return Promise.resolve({ written: true, notesCommit: oid(1) });
    },
  };
  const notes: Notes = createNotes({
    annotator,
    clock: createManualClock(),
    log: silentLog,
    random: () => 0,
    everyMs: 1_000,
    onChange: () => undefined,
  });
  return { notes, held, pushes, setReadOnly: (readOnly: boolean) => (isReadOnly = readOnly) };
}

describe('notes on commits', () => {
  it('are written once, and again where they say something else', async () => {
    const { notes, pushes } = repository();
    notes.want(noteOn(1));
    await notes.flush(NEVER);
    assert.equal(notes.stands(noteOn(1)), true);
    notes.want(noteOn(1));
    await notes.flush(NEVER);
    assert.deepEqual(pushes, [1]);
    notes.want(noteOn(1, 'another reason'));
    assert.equal(notes.stands(noteOn(1)), false);
    await notes.flush(NEVER);
    assert.deepEqual(pushes, [1, 1]);
  });

  it('that cannot be written say why, and do not heap up: those of the newest commits are kept', async () => {
    const { notes, held, pushes, setReadOnly } = repository();
    setReadOnly(true);
    for (let n = 1; n <= 200; n += 1) notes.want(noteOn(n));
    await notes.flush(NEVER);
    assert.deepEqual(notes.state(), { notes: 'off', because: 'the credential may not write' });
    assert.deepEqual(pushes, [50]);
    setReadOnly(false);
    await notes.flush(NEVER);
    assert.deepEqual(notes.state(), { notes: 'on' });
    assert.deepEqual([held.size, held.has(oid(150)), held.has(oid(151)), held.has(oid(200))], [50, false, true, true]);
  });

  it('that were given up are written where somebody still wants them', async () => {
    const { notes, held, setReadOnly } = repository();
    setReadOnly(true);
    for (let n = 1; n <= 60; n += 1) notes.want(noteOn(n));
    setReadOnly(false);
    notes.want(noteOn(1));
    await notes.flush(NEVER);
    assert.equal(notes.stands(noteOn(1)), true);
    assert.equal(held.size, 50);
  });
});
