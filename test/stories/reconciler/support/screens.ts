import assert from 'node:assert/strict';
import { diagnosePools } from '#cli/doctor/diagnose/diagnose-pools.ts';
import type { Facts } from '#cli/doctor/facts.ts';
import { plain } from '#cli/paint.ts';
import { renderStatus } from '#cli/status/render.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { eventsOfPool } from '#reconciler/reporting/events/pool-events.ts';
import { noteInForce } from '#reconciler/reporting/notes/commit-note.ts';
import { noteContent } from '#reconciler/reporting/notes/note-content.ts';
import { buildModel } from '#reconciler/reporting/status-page/build-model.ts';
import { toText } from '#reconciler/reporting/status-page/html.ts';
import { ALL_NODES } from '#reconciler/reporting/status-page/page-request.ts';
import { renderPage } from '#reconciler/reporting/status-page/render/render-page.ts';
import { commit, COMMIT_B, NOW, poolInCluster, type validPool } from '../../../support/fleet.ts';
import { passResultOf, SOURCE } from '../../../reconciler/reporting/status-page/pass-results.ts';

/** A fleet after a pass, with the status that its pool `workers` got by that. */
export function shownAfterPass(fleet: Fleet, wanted: ReturnType<typeof validPool>) {
  const decided = passResultOf({ fleet, inForce: commit(COMMIT_B, wanted) });
  const status = decided.planned.pools.get('workers') ?? assert.fail();
  const pool = { ...poolInCluster(wanted, status), status };
  const round = { ...decided, fleet: { ...fleet, pools: new Map([['workers', pool]]) } };
  return { decided, status, pool, round };
}

export type Shown = ReturnType<typeof shownAfterPass>;

export const POOL_PAGE = { page: 'pool', pool: 'workers', filter: ALL_NODES } as const;

export function pageOf({ round }: Shown, question: Parameters<typeof renderPage>[1]): string {
  const model = buildModel(round, { cluster: 'prod', version: '1', forge: undefined }, NOW);
  return toText(renderPage(model, question) ?? assert.fail())
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"');
}

/** What each place says of the pool where people look. */
export const SCREENS: Readonly<Record<string, (shown: Shown) => string>> = {
  Events: ({ pool }) =>
    eventsOfPool(pool)
      .map(({ reason, note }) => `${reason}: ${note}`)
      .join('\n'),
  note: ({ decided, status }) =>
    noteContent(noteInForce('prod', COMMIT_B, decided.desired, new Map([['workers', status]]))).text,
  'status page': (shown) => pageOf(shown, { page: 'overview' }),
  'page of the pool': (shown) => pageOf(shown, POOL_PAGE),
  status: ({ pool }) => renderStatus({ source: SOURCE, pools: [pool], nodes: [] }, plain, NOW),
  doctor: ({ pool }) => {
    const facts = { pools: { read: true, value: [pool] }, source: { read: true, value: SOURCE }, now: NOW };
    return diagnosePools(facts as unknown as Facts)
      .map(({ code, what }) => `${code}: ${what}`)
      .join('\n');
  },
};
