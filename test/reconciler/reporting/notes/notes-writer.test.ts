import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Annotator } from '#reconciler/git/notes/annotator.ts';
import { GitError } from '#reconciler/git/errors.ts';
import { noteRefused } from '#reconciler/reporting/notes/commit-note.ts';
import { noteContent } from '#reconciler/reporting/notes/note-content.ts';
import { createNotesWriter, type NotesWriter } from '#reconciler/reporting/notes/notes-writer.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const NEVER = new AbortController().signal;
const oid = (n: number): string => n.toString(16).padStart(40, '0');
const noteOn = (n: number, why = 'no reason') => noteRefused('prod', oid(n), why);

/** A repository that notes can be written to, and one that takes none for as long as somebody says so. */
function repository(signs = false) {
  let isReadOnly = false;
  let isSilent = false;
  let isEmptied = false;
  const held = new Map<string, string>();
  const pushes: number[] = [];
  const unreadable = new Map<string, GitError>();
  const clock = createManualClock();
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (fields: unknown) => errors.push(fields) };
  let changes = 0;
  const annotator: Annotator = {
    ref: 'refs/notes/kubelet-gitops/prod',
    signs,
    annotate(notes, signal, { signed: before = null } = {}) {
      pushes.push(notes.size);
      if (isSilent) return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      if (isReadOnly) return Promise.reject(new GitError('GIT_FORBIDDEN', 'the credential may not write'));
      for (const [commit, content] of notes) {
        const text = typeof content === 'string' ? content : content.text;
        if (!unreadable.has(commit)) held.set(commit, text);
      }
      const left = new Map([...unreadable].filter(([commit]) => notes.has(commit)));
      const serial = (before?.serial ?? 0) + 1;
      const begunAnew = isEmptied;
      isEmptied = false;
      const signed = signs ? { signed: { serial, tip: oid(serial) } } : {};
      return Promise.resolve({ written: true, unreadable: left, ...signed, begunAnew });
    },
  };
  const notes: NotesWriter = createNotesWriter({
    annotator,
    cluster: 'prod',
    signedBefore: () => Promise.resolve({ serial: 40, tip: oid(40) }),
    clock,
    log,
    random: () => 0,
    everyMs: 1_000,
    onChange: () => (changes += 1),
  });
  return {
    notes,
    held,
    pushes,
    unreadable,
    clock,
    errors,
    changes: () => changes,
    /** Somebody took everything from the ref, and the server has nothing of it. */
    empty() {
      held.clear();
      isEmptied = true;
    },
    setReadOnly: (readOnly: boolean) => (isReadOnly = readOnly),
    setSilent: (silent: boolean) => (isSilent = silent),
  };
}

describe('notes on commits', () => {
  it('are written again where only what programs read has changed', async () => {
    const { notes, pushes } = repository();
    const said = (maxUnassign: string) => ({ ...noteOn(1), limits: { maxChange: '1%', maxUnassign } as const });
    assert.equal(noteContent(said('1%')).text, noteContent(said('2%')).text);
    for (const maxUnassign of ['1%', '2%', '2%']) {
      notes.want(said(maxUnassign));
      await notes.flush(NEVER);
    }
    assert.deepEqual(pushes, [1, 1]);
    assert.deepEqual([notes.stands(said('1%')), notes.stands(said('2%'))], [false, true]);
  });

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

  it('that nobody answers are given up after a minute of the clock that it was given, and tried again', async () => {
    const { notes, pushes, clock, setSilent } = repository();
    setSilent(true);
    const stop = new AbortController();
    const running = notes.run(stop.signal);
    notes.want(noteOn(1));
    await clock.advance(59_999);
    assert.deepEqual([pushes, notes.state()], [[1], { notes: 'on' }]);
    setSilent(false);
    await clock.advance(1);
    assert.equal(notes.state().notes, 'off');
    await clock.advance(5_000);
    assert.deepEqual([pushes, notes.state(), notes.stands(noteOn(1))], [[1, 1], { notes: 'on' }, true]);
    stop.abort();
    await running;
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

describe('signed notes', () => {
  it('are signed anew every hour by the process that acts, from the record on, and by no other', async () => {
    const { notes, pushes, clock } = repository(true);
    const stop = new AbortController();
    const running = notes.run(stop.signal);
    await clock.advance(7_200_000);
    assert.deepEqual([pushes, notes.signed()], [[], null]);
    notes.prove([]);
    await clock.advance(2_000);
    assert.deepEqual([pushes, notes.signed()], [[0], { serial: 41, tip: oid(41) }]);
    notes.prove([]);
    await clock.advance(3_590_000);
    assert.equal(pushes.length, 1);
    await clock.advance(10_000);
    assert.deepEqual([pushes, notes.signed()?.serial], [[0, 0], 42]);
    notes.want(noteOn(1));
    await clock.advance(1_000);
    assert.deepEqual([pushes, notes.signed()?.serial], [[0, 0, 1], 43]);
    await clock.advance(3_590_000);
    assert.equal(pushes.length, 3, 'a note signs as well');
    stop.abort();
    await running;
  });

  for (const signs of [true, false]) {
    it(`are all written again where those before are lost, ${signs ? 'signed' : 'not signed'}`, async () => {
      const { notes, held, empty } = repository(signs);
      notes.want(noteOn(1));
      await notes.flush(NEVER);
      empty();
      notes.want(noteOn(2));
      await notes.flush(NEVER);
      await notes.flush(NEVER);
      assert.deepEqual([...held.keys()].toSorted(), [oid(1), oid(2)]);
    });
  }

  it('are not signed anew where no key is set', async () => {
    const { notes, pushes, clock } = repository();
    const stop = new AbortController();
    const running = notes.run(stop.signal);
    notes.prove([]);
    await clock.advance(7_200_000);
    assert.deepEqual([pushes, notes.signed()], [[], null]);
    stop.abort();
    await running;
  });
});

describe('a note whose place on the ref cannot be read', () => {
  const damaged = new GitError('GIT_DAMAGED', 'the folder 00/ cannot be read');

  it('is told with its stack, and holds up no other', async (t) => {
    const { notes, held, pushes, unreadable, clock, errors, changes } = repository();
    const stop = new AbortController();
    t.after(() => stop.abort());
    unreadable.set(oid(1), damaged);
    notes.want(noteOn(1));
    notes.want(noteOn(2));
    const run = notes.run(stop.signal);
    await clock.advance(1);
    assert.deepEqual(notes.state(), { notes: 'on' });
    assert.deepEqual(notes.unreadable(), [{ commit: oid(1), because: damaged.message }]);
    assert.deepEqual([[...held.keys()], notes.stands(noteOn(1)), notes.stands(noteOn(2))], [[oid(2)], false, true]);
    assert.equal(changes(), 1);
    assert.deepEqual(errors, [
      { commit: oid(1), ref: 'refs/notes/kubelet-gitops/prod', code: 'GIT_DAMAGED', err: damaged },
    ]);
    // Others go on at their own pace, without the one.
    notes.want(noteOn(3));
    await clock.advance(2_000);
    assert.deepEqual([pushes, notes.stands(noteOn(3))], [[2, 1], true]);
    stop.abort();
    await run;
  });

  it('is tried again, more and more seldom, and said once', async (t) => {
    const { notes, pushes, unreadable, clock, errors, changes } = repository();
    const stop = new AbortController();
    t.after(() => stop.abort());
    unreadable.set(oid(1), damaged);
    notes.want(noteOn(1));
    const run = notes.run(stop.signal);
    for (let minute = 0; minute < 24 * 60; minute += 1) await clock.advance(60_000);
    assert.ok(pushes.length > 140 && pushes.length < 170, `${pushes.length} tries a day`);
    assert.deepEqual([errors.length, changes()], [1, 1]);
    unreadable.delete(oid(1));
    for (let minute = 0; minute < 11; minute += 1) await clock.advance(60_000);
    assert.deepEqual([notes.stands(noteOn(1)), notes.unreadable(), changes()], [true, [], 2]);
    stop.abort();
    await run;
  });

  it('is tried when the process ends', async () => {
    const { notes, pushes, unreadable } = repository();
    unreadable.set(oid(1), damaged);
    notes.want(noteOn(1));
    await notes.flush(NEVER);
    await notes.flush(NEVER);
    assert.deepEqual(pushes, [1, 1]);
  });

  it('is left out of what is told once a newer one took its place in the queue', async () => {
    const { notes, unreadable } = repository();
    unreadable.set(oid(1), damaged);
    notes.want(noteOn(1));
    await notes.flush(NEVER);
    for (let n = 2; n <= 60; n += 1) notes.want(noteOn(n));
    await notes.flush(NEVER);
    assert.deepEqual(notes.unreadable(), []);
  });
});
