import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFallbackNames, MOST_FALLBACK_NAMES } from '#reconciler/cluster/fallback-names.ts';

describe('other names of a config source', () => {
  it('are so many for each, and none alike', () => {
    const names = createFallbackNames();
    const made = Array.from({ length: MOST_FALLBACK_NAMES }, () => names.next('web-1', 'web', '{}'));
    assert.equal(new Set(made).size, MOST_FALLBACK_NAMES);
    assert.equal(made.includes(undefined), false);
    assert.equal(names.next('web-1', 'web', '{}'), undefined);
    assert.notEqual(names.next('web-2', 'web', '{}'), undefined);
  });

  it('are counted for the last ten thousand: that of the one used longest ago begins again', () => {
    const names = createFallbackNames();
    const useUp = (usual: string): void => {
      for (let time = 0; time < MOST_FALLBACK_NAMES; time += 1) names.next(usual, 'web', '{}');
    };
    const usual = Array.from({ length: 10_001 }, (_, n) => `web-${n}`);
    for (const name of usual) useUp(name);
    const [first = '', second = ''] = usual;
    assert.equal(names.next(second, 'web', '{}'), undefined);
    assert.equal(names.next(usual.at(-1) ?? '', 'web', '{}'), undefined);
    assert.notEqual(names.next(first, 'web', '{}'), undefined);
  });
});
