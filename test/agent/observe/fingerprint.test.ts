import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRunNames, fingerprintOf } from '#agent/observe/fingerprint.ts';
import { A } from '../../support/agent/states.ts';

const up = (run: string | null) => ({ run, state: 'running' }) as const;
const DOWN = { run: null, state: 'starting' } as const;

describe('the run that a turn is bound to', () => {
  it('is the kubelet’s own while it is healthy, and stays that when it is not for a moment', () => {
    const runs = createRunNames();
    assert.equal(runs.nameOf(up('1'), true), '1');
    assert.equal(runs.nameOf(up('1'), false), '1');
    assert.equal(runs.nameOf(up('2'), true), '2');
  });

  it('is one and the same for a kubelet that dies again and again', () => {
    const runs = createRunNames();
    runs.nameOf(up('1'), true);
    const names = ['2', '3', '4'].flatMap((run) => [runs.nameOf(DOWN, false), runs.nameOf(up(run), false)]);
    assert.equal(new Set(names).size, 1);
    assert.ok(!names.includes('1'), 'a turn for the healthy run is none for those after it');
  });

  it('is another as soon as it is healthy, and when it dies another time', () => {
    const runs = createRunNames();
    runs.nameOf(up('1'), true);
    const [first, healthy, second] = [
      runs.nameOf(up('2'), false),
      runs.nameOf(up('3'), true),
      runs.nameOf(up('4'), false),
    ];
    assert.equal(new Set([first, healthy, second]).size, 3);
  });

  it('is none where the service manager knows of no runs', () => {
    const runs = createRunNames();
    const unknown = { run: null, state: 'unknown' } as const;
    assert.deepEqual([runs.nameOf(unknown, true), runs.nameOf(unknown, false)], [null, null]);
  });
});

describe('what a turn is bound to', () => {
  it('is another for the same bytes that keep other fields of the node’s own config', () => {
    const base = { base: { under: null, newer: null } };
    const of = (...keepFields: readonly string[]): string =>
      fingerprintOf({ ...A, apply: 'replace', keepFields }, { intent: 'unknown' }, base, 'run', 'boot');
    assert.equal(new Set([of(), of('port'), of('address'), of('address', 'port')]).size, 4);
    assert.equal(of('port'), of('port'));
  });
});
