import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plain } from '#cli/paint.ts';
import { renderStatus } from '#cli/status/render.ts';
import { diagnosePools } from '#cli/doctor/diagnose/diagnose-pools.ts';
import type { Facts } from '#cli/doctor/facts.ts';
import { haltLines } from '#reconciler/policy/pool-status/halt-lines.ts';
import { eventsOfPool } from '#reconciler/reporting/events/pool-events.ts';
import { noteInForce } from '#reconciler/reporting/notes/commit-note.ts';
import { noteContent } from '#reconciler/reporting/notes/note-content.ts';
import { buildModel } from '#reconciler/reporting/status-page/build-model.ts';
import { toText } from '#reconciler/reporting/status-page/html.ts';
import { ALL_NODES } from '#reconciler/reporting/status-page/page-request.ts';
import { renderPage } from '#reconciler/reporting/status-page/render/render-page.ts';
import { commit, COMMIT_A, COMMIT_B, failedNode, NOW, poolInCluster } from '../../support/fleet.ts';
import { a, fleetWith, next, old, settled } from '../../reconciler/policy/pool-status/support/pool-of-three.ts';
import { passResultOf, SOURCE } from '../../reconciler/reporting/status-page/pass-results.ts';

const AT = '2026-11-21T10:00:00Z';
const [{ status: ran }] = settled as [(typeof settled)[0] & object];
const failed = failedNode(a, next);
const back = { ...failed, status: { ...failed.status, active: ran?.active, lastKnownGood: ran?.lastKnownGood } };
const settledOn = { configName: old.configName, sha256: old.sha256, apply: 'overlay', at: AT } as const;
const fleet = fleetWith([back as typeof failed, ...settled.slice(1)], poolInCluster(old, { settled: settledOn }));
const decided = passResultOf({ fleet, inForce: commit(COMMIT_B, next) });
const status = decided.planned.pools.get('workers') ?? assert.fail();
const pool = { ...poolInCluster(next, status), status };
const lines = haltLines(status);
const round = { ...decided, fleet: { ...fleet, pools: new Map([['workers', pool]]) } };
const page = (question: Parameters<typeof renderPage>[1]): string => {
  const model = buildModel(round, { cluster: 'prod', version: '1', forge: undefined }, NOW);
  const drawn = renderPage(model, question) ?? assert.fail();
  return toText(drawn)
    .replaceAll(/&#39;|&apos;|&#x27;/g, "'")
    .replaceAll('&quot;', '"');
};

const SCREENS: Readonly<Record<string, () => string>> = {
  Event: () => eventsOfPool(pool).find(({ reason }) => reason === 'RolloutHalted')?.note ?? '',
  note: () => {
    const statuses = new Map([['workers', status]]);
    return noteContent(noteInForce('prod', COMMIT_A, decided.desired, statuses)).text;
  },
  'status page': () => page({ page: 'overview' }),
  'page of the pool': () => page({ page: 'pool', pool: 'workers', filter: ALL_NODES }),
  status: () => renderStatus({ source: SOURCE, pools: [pool], nodes: [] }, plain, NOW),
  doctor: () => {
    const facts = { pools: { read: true, value: [pool] }, source: { read: true, value: SOURCE }, now: NOW };
    return diagnosePools(facts as unknown as Facts)
      .map(({ what }) => what)
      .join('\n');
  },
};

describe('a halted pool', () => {
  it('has more to say than that it is halted', () => {
    assert.equal(lines.length, 4, lines.join('\n'));
    assert.match(lines[0] ?? '', /^changed since workers-\w+ \(settled 2026-11-21T10:00:00Z\): maxPods: 110 → 120$/);
    assert.match(lines[1] ?? '', /^by commit b{12}/);
    assert.match(lines[2] ?? '', /can wait for working hours/);
    assert.match(lines[3] ?? '', /KubeletGitopsPoolHalted/);
  });
  for (const [name, screen] of Object.entries(SCREENS)) {
    it(`says what changed, whose it is and what is safe now, in the same words: ${name}`, () => {
      const text = screen();
      for (const line of lines) assert.ok(text.includes(line), `${line}\nis not in\n${text}`);
    });
  }
});
