import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPageCache } from '#reconciler/reporting/status-page/page-cache.ts';
import { ALL_NODES, type PageRequest } from '#reconciler/reporting/status-page/page-request.ts';
import type { AuditSummary } from '#shared/contract/audit-summary.ts';
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

  it('shows the last audit that was published, whoever leads, or how to make one', () => {
    for (const leads of [true, false]) {
      let audit: AuditSummary | null = null;
      const clock = createManualClock();
      const round = passResultIn(settledFleet(2));
      const leadership = () => ({ leads, holder: 'another' });
      const picture = createPageCache(
        ABOUT,
        leadership,
        clock,
        () => round,
        () => audit,
      );
      picture.show(round);
      assert.match(picture.page(OVERVIEW)?.body ?? '', /None was published here\. <code>kubelet-gitops audit<\/code>/);
      audit = {
        at: '2026-11-29T03:00:00Z',
        nodes: { seen: 1, of: 2 },
        failed: [{ section: 'safety', severity: 'high', checks: 3 }],
      };
      clock.skip(5_001);
      const body = picture.page(OVERVIEW)?.body ?? '';
      assert.match(body, /3 checks failed \(3 high\) on 1 of 2 nodes/);
      assert.ok(body.includes('{.binaryData.report\\.json\\.gz}'));
    }
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
