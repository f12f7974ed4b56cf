import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { storedNote } from '#reconciler/git/notes/stored-note.ts';
import { noteOfPredecessor, noteRefused } from '#reconciler/reporting/notes/commit-note.ts';
import { noteContent } from '#reconciler/reporting/notes/note-content.ts';
import { note, pool } from '../forge/notes.ts';
import { jsonOf, NOTE_JSON_SCHEMA, noteProblems } from '../../../support/note-schema.ts';

/** Members of a union of words, where it is declared. */
function wordsOf(type: string, file: string): readonly string[] {
  const declared = new RegExp(`type ${type} =([^;]*);`).exec(readFileSync(file, 'utf8'))?.[1] ?? '';
  return [...declared.matchAll(/'([^']+)'/g)].map(([, word = '']) => word);
}

const HALT = { config: 'gpu-a', at: '2026-03-02T10:14:07Z', action: 'revert', message: 'it failed' } as const;
const WAVES = [{ name: 'canary', nodes: 1, state: 'done', startedAt: HALT.at, doneAt: HALT.at }] as const;
const FAILURE = { node: 'a', config: 'gpu-a', reason: 'CrashLoop', message: 'it died', at: HALT.at };
const full = note(
  'halted',
  [
    pool('gpu', 'Halted', 1, {
      halt: HALT,
      released: { haltedAt: HALT.at, nodes: 2 },
      waves: WAVES,
      failures: [FAILURE],
    }),
    pool('general', 'Progressing', 0, { emergency: 'now', suspended: true, config: null, counts: null }),
  ],
  { limits: { maxChange: '50%', maxUnassign: 3 }, findings: ['x.yaml:1:1: error'] },
);

describe('the schema of notes', () => {
  it('names every field of a note, and only those', () => assert.deepEqual(noteProblems(noteContent(full).data), []));
  it('has room for what a kubelet said last, which stands at the end of a long message', () => {
    const message = `${'x'.repeat(300)}. The kubelet’s last error: “${'e'.repeat(280)}”; before it: “${'f'.repeat(280)}”`;
    const commit = 'a'.repeat(40);
    const status = { phase: 'Halted', commit, failures: [{ ...FAILURE, message }] } as never;
    const failed = noteOfPredecessor('demo', commit, [{ metadata: { name: 'gpu' }, status }]);
    const { text, data } = noteContent(failed);
    assert.ok(text.includes(`${'f'.repeat(280)}”`));
    assert.deepEqual(noteProblems(data), []);
  });
  it('takes the note of a commit that never came into force', () => {
    assert.deepEqual(noteProblems(noteContent(noteRefused('prod', 'a'.repeat(40), 'it is not signed')).data), []);
  });
  it('takes the note of a repository of hundreds of pools, which is whole and names those that are in trouble', () => {
    const quiet = Array.from({ length: 700 }, (_, n) => pool(`pool-${n}`, 'Settled', 4));
    const late = pool('late', 'Halted', 1, { halt: HALT, failures: [FAILURE] });
    const { text, data } = noteContent(note('halted', [...quiet, late]));
    for (const written of [text, data]) assert.equal(storedNote(written).toString(), written, 'nothing is cut off');
    assert.deepEqual(noteProblems(data), []);
    const { pools, omittedPools } = jsonOf(data) as { pools: { name: string }[]; omittedPools: number };
    assert.equal(pools.length + omittedPools, 701);
    assert.ok(pools.length > 20, `${pools.length} of them are named`);
    assert.equal(pools.at(-1)?.name, 'late');
    assert.match(text, new RegExp(`^and ${omittedPools} more pools`, 'm'));
  });
  it('finds what is missing, misspelt or of another kind', () => {
    const { outcome: _, ...without } = jsonOf(noteContent(full).data);
    assert.match(noteProblems(`\n${JSON.stringify(without)}`).join(), /outcome/);
    assert.match(
      noteProblems(`\n${JSON.stringify({ ...jsonOf(noteContent(full).data), outcom: 'x' })}`).join(),
      /additional/,
    );
    assert.match(
      noteProblems(`\n${JSON.stringify({ ...jsonOf(noteContent(full).data), pools: 3 })}`).join(),
      /pools must be/,
    );
  });
  it('has the words of the types', () => {
    const { properties } = NOTE_JSON_SCHEMA;
    const poolProperties = properties.pools.items.properties;
    const NOTE = 'reconciler/reporting/notes/commit-note.ts';
    assert.deepEqual(properties.outcome.enum, wordsOf('CommitOutcome', NOTE));
    assert.deepEqual(poolProperties.origin.enum, wordsOf('PoolOrigin', 'reconciler/policy/desired.ts'));
    assert.deepEqual(poolProperties.phase.enum, wordsOf('PoolPhase', 'shared/contract/api/kubelet-pool.ts'));
  });
});
