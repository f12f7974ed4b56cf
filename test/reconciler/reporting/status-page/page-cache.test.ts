import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPageCache } from '#reconciler/reporting/status-page/page-cache.ts';
import { ALL_NODES, type PageRequest } from '#reconciler/reporting/status-page/page-request.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { passResultIn, settledFleet } from './pass-results.ts';

const ABOUT = { cluster: 'prod', version: '1.2.3', forge: undefined } as const;
const OVERVIEW: PageRequest = { page: 'overview' };
const nodes = (page: number): PageRequest => ({ page: 'nodes', filter: { ...ALL_NODES, page } });

function start() {
  const clock = createManualClock();
  const picture = createPageCache(ABOUT, () => ({ leads: true, holder: '' }), clock);
  const round = passResultIn(settledFleet(2));
  picture.show(round);
  return { clock, picture, round };
}

describe('a page', () => {
  it('is made once for everybody who asks, and again with the next round or after five seconds', () => {
    const { clock, picture, round } = start();
    const first = picture.page(OVERVIEW);
    clock.skip(5_000);
    assert.equal(picture.page(OVERVIEW), first);
    clock.skip(1);
    const second = picture.page(OVERVIEW);
    assert.notEqual(second, first);
    picture.show(round);
    assert.notEqual(picture.page(OVERVIEW), second);
  });

  it('is kept among sixty-four: whoever tries addresses fills no memory', () => {
    const { picture } = start();
    const first = picture.page(OVERVIEW);
    for (let page = 1; page <= 63; page += 1) picture.page(nodes(page));
    assert.equal(picture.page(OVERVIEW), first);
    picture.page(nodes(64));
    assert.notEqual(picture.page(OVERVIEW), first);
    assert.equal(picture.page({ page: 'pool', pool: 'none', filter: ALL_NODES }), null);
  });
});
