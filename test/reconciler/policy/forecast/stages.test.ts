import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { divideIntoStages, type StageShape } from '#reconciler/policy/forecast/stages.ts';

type Who = StageShape<string>['who'];

const upTo = (nodes: number): Who => ({ upTo: nodes });
const only = (letter: string): Who => ({ only: (name) => name.startsWith(letter) });
/** The class of a node is the first letter of its name. */
const ofClasses = (nodes: Readonly<Record<string, number>>): Who => ({
  ofClasses: new Map(Object.entries(nodes)),
  classOf: (name) => name[0],
});

describe('the stages of a rollout', () => {
  const ROWS: readonly (readonly [string, readonly Who[], number, readonly string[]])[] = [
    ['as many as it takes until so many have begun', [upTo(2), upTo(5)], 1, ['a1', 'a2 a3 b1']],
    ['nobody where as many have begun already', [upTo(3), upTo(9)], 5, ['', 'a1 a2 a3 b1']],
    ['those that are asked for', [only('b'), upTo(6)], 0, ['b1 b2', 'a1 a2 a3 c1']],
    ['so many of each class', [ofClasses({ a: 2, b: 1, c: 1 }), upTo(6)], 0, ['a1 a2 b1 c1', 'a3 b2']],
    ['all of a class that is smaller', [ofClasses({ a: 1, b: 5 }), upTo(6)], 0, ['a1 b1 b2', 'a2 a3 c1']],
    ['nobody of a class of which nobody is left to begin', [ofClasses({ a: 0, b: -1 }), upTo(2)], 0, ['', 'a1 a2']],
  ];
  for (const [name, whos, begun, expected] of ROWS) {
    it(`have ${name}`, () => {
      const shapes = whos.map((who, index) => ({ name: `stage ${index}`, soakMs: 0, who }));
      const stages = divideIntoStages(shapes, begun, ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']);
      assert.deepEqual(
        stages.map(({ items }) => items.join(' ')),
        expected,
      );
    });
  }

  it('keep the name and the soak of each, also of those without nodes, and are fixed where not everybody may begin', () => {
    const stages = divideIntoStages(
      [
        { name: 'canary', soakMs: 5, who: only('x') },
        { name: 'rest', soakMs: 7, who: upTo(1) },
      ],
      0,
      ['a'],
    );
    assert.deepEqual(stages, [
      { name: 'canary', soakMs: 5, items: [], isFixed: true },
      { name: 'rest', soakMs: 7, items: ['a'], isFixed: false },
    ]);
  });
});
