import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { COPIED, JUDGES } from '../mutants/config.ts';
import { mutatedBy } from '../mutants/parts.ts';
import { SURVIVORS } from '../mutants/survivors.ts';
import { judge, type Mutant, onOneLine, percentOf, survivorOf } from '../mutants/verdict.ts';
import { importsOf, loadedWith, sourceFiles } from './support/import-graph.ts';

const SOURCE = `const LIMIT = 5;

export function isFull(n: number): boolean {
  return n
    >= LIMIT;
}
`;
const at = (line: number, column: number) => ({ line, column });
const mutant = (status: string, replacement: string): Mutant => ({
  file: 'agent/decide/full.ts',
  status,
  start: at(4, 10),
  end: at(5, 13),
  replacement,
});
const verdict = (mutants: readonly Mutant[], ...explained: readonly (readonly [string, string, string])[]) =>
  judge(mutants, ['agent/decide', 'reconciler/policy'], { 'agent/decide/full.ts': explained }, () => SOURCE);

describe('the verdict on mutants', () => {
  it('names a mutant by its declaration and by its code, so that it keeps its name where lines come and go', () => {
    const { within, mutant: name, line } = survivorOf(mutant('Survived', 'n  >\n LIMIT'), SOURCE);
    assert.deepEqual([within, name, line], ['isFull', 'n >= LIMIT → n > LIMIT', 4]);
    assert.equal(onOneLine('x'.repeat(101)).length, 101);
  });

  it('scores a floor by what is noticed, and leaves out what is ignored', () => {
    const all = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'RuntimeError', 'Ignored'];
    const score = verdict(all.map((status) => mutant(status, status))).scores.get('agent/decide');
    assert.deepEqual(score, { mutants: 5, noticed: 2 });
    assert.equal(percentOf({ mutants: 5, noticed: 2 }), 40);
    assert.equal(percentOf({ mutants: 0, noticed: 0 }), 100);
  });

  it('finds survivors that nobody explained, and explanations of what is noticed or gone', () => {
    const survived = mutant('Survived', 'n > LIMIT');
    const entry = ['isFull', 'n >= LIMIT → n > LIMIT', 'why'] as const;
    assert.equal(verdict([survived]).unexplained.length, 1);
    assert.deepEqual(verdict([survived], entry).unexplained, []);
    assert.deepEqual(verdict([survived], entry).stale, []);
    assert.equal(verdict([mutant('Killed', 'n > LIMIT')], entry).stale.length, 1);
    assert.equal(verdict([{ ...survived, replacement: 'true' }], entry).unexplained.length, 1);
  });

  it('says nothing of explanations for files that were not looked at', () => {
    assert.deepEqual(verdict([], ['isFull', 'n >= LIMIT → n > LIMIT', 'why']).stale, []);
  });
});

describe('the run that makes mutants', () => {
  it('copies everything that the judging tests load', () => {
    const imports = importsOf(['agent', 'cli', 'reconciler', 'sandbox', 'shared', 'test'].flatMap(sourceFiles));
    const loaded = globSync(JUDGES).flatMap((judge) => [...loadedWith(judge, imports).keys()]);
    const own = new Set(loaded.filter((file) => file.endsWith('.ts')));
    assert.ok(own.size > 100);
    assert.deepEqual(
      [...own].filter((file) => !COPIED.some((folder) => file.startsWith(`${folder}/`))),
      [],
    );
  });

  it('is limited to the folders and files that are named, and refuses those that are on no floor', () => {
    const floors = ['agent/decide', 'reconciler/policy'];
    assert.deepEqual(mutatedBy([], floors), ['agent/decide/**/*.ts', 'reconciler/policy/**/*.ts']);
    assert.deepEqual(mutatedBy(['reconciler/policy/rollout/', 'agent/decide/health-verdict.ts'], floors), [
      'reconciler/policy/rollout/**/*.ts',
      'agent/decide/health-verdict.ts',
    ]);
    assert.throws(
      () => mutatedBy(['reconciler/git'], floors),
      /reconciler\/git is not in agent\/decide or reconciler\/policy/,
    );
  });
});

describe('the survivors that are explained', () => {
  for (const [file, entries] of Object.entries(SURVIVORS)) {
    it(`are in ${file} as they are written there`, () => {
      const source = readFileSync(file, 'utf8');
      for (const [within, name] of entries) {
        assert.match(source, new RegExp(`^(?:export )?(?:const|function\\*?|let) ${within}\\b`, 'm'), within);
        const original = name.slice(0, name.indexOf(' → ')).replace(/…$/, '');
        assert.ok(source.replace(/\s+/g, ' ').includes(original), `${within}: ${original}`);
      }
    });
  }
});
