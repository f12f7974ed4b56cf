import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plain } from '#cli/paint.ts';
import { createScreen } from '#sandbox/demo/screen.ts';

describe("the demo's screen", () => {
  const sentence = 'a sentence that is longer than the line of a terminal which has fifty columns and no more';
  function written(output: { readonly isTTY?: boolean; readonly columns?: number }): string {
    let text = '';
    const screen = createScreen({ ...output, write: (more) => (text += more) }, plain);
    screen.say(`  ${sentence}`);
    screen.live([sentence]);
    return text;
  }

  it('breaks what stays between words, and cuts what is drawn over and over', () => {
    const [first, second, live, end] = written({ isTTY: true, columns: 50 }).split('\n');
    assert.deepEqual(
      [first, second],
      ['  a sentence that is longer than the line of a', '      terminal which has fifty columns and no more'],
    );
    assert.deepEqual([live, end], [sentence.slice(0, 49), '']);
  });

  it('gives programs whole lines, and nothing that is drawn over', () => {
    assert.equal(written({}), `  ${sentence}\n`);
  });
});
