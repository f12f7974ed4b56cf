import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { ownVerdict } from '../own-verdict.ts';
import { generate } from './generate.ts';

describe('generated configs', () => {
  it('are the same for the same seed, and others for another', () => {
    const texts = (seed: number): readonly string[] => [...generate(200, seed)].map(({ text }) => text);
    assert.deepEqual(texts(7), texts(7));
    assert.notDeepEqual(texts(7), texts(8));
  });

  it('can be made again one by one', () => {
    const [first] = [...generate(5, 3)].slice(4);
    assert.deepEqual(first, [...generate(50, 3)][4]);
  });

  it('name every field, take all three ways, and are hardly ever the same', () => {
    const all = [...generate(5000, 1)].map(({ text }) => text);
    const names = [...FIELDS.keys()].map((path) => path.split('.').at(-1) ?? '');
    assert.deepEqual(
      names.filter((name) => !all.some((text) => text.includes(name))),
      [],
    );
    const words = all.map((text) => ownVerdict(Buffer.from(text), 37).word);
    for (const word of ['ok', 'lenient', 'reject'] as const) {
      const share = words.filter((said) => said === word).length / all.length;
      assert.ok(share > 0.04, `${word} is said of ${Math.round(share * 100)} % of them`);
    }
    assert.ok(new Set(all).size > 4500);
  });
});
