import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ALL_NODES, type PageRequest } from '#reconciler/reporting/status-page/page-request.ts';
import type { WaitingModel } from '#reconciler/reporting/status-page/model.ts';
import { toText } from '#reconciler/reporting/status-page/html.ts';
import { renderPage } from '#reconciler/reporting/status-page/render/render-page.ts';
import {
  BEGAN,
  DONE,
  node,
  WORKING,
  OVERVIEW,
  POOL,
  nodesPage,
  draw,
  bare,
  parts,
  tableOf,
  factsOf,
} from '../support/drawn.ts';

describe('what the page shows of', () => {
  it('commits and git: what came of each commit, and how the repository is doing', () => {
    const said = { subject: 'Raise', author: 'Ada', at: DONE } as const;
    const commits = [
      { ...said, oid: 'a'.repeat(40), outcome: 'settled', link: 'https://x/a' } as const,
      { ...said, oid: 'b'.repeat(40), outcome: 'refused', link: null } as const,
    ];
    const page = draw({ commits, findings: ['one', 'other'] }, OVERVIEW);
    assert.deepEqual(tableOf(page, 'The last commits'), [
      'Commit | Outcome | Subject | Author | Taken up or refused',
      'aaaaaaaaaaaa | ✓ settled | Raise | Ada | 21 Nov 2026, 23:30:05 UTC',
      'bbbbbbbbbbbb | ✕ refused | Raise | Ada | 21 Nov 2026, 23:30:05 UTC',
    ]);
    assert.deepEqual(parts(page, /<a href="([^"]*)" rel="noreferrer">/g), ['https://x/a']);
    assert.deepEqual(parts(page, /<ul class="findings">(.*?)<\/ul>/gs).map(bare), ['one other']);
    const facts = ['Repository https://git.example/x', 'Branch main , read without trouble', 'Notes on commits on'];
    assert.deepEqual(factsOf(page), [...facts, 'Statuses on the forge off']);
    const failing = draw({ git: { ...WORKING.git, failingSince: BEGAN } }, OVERVIEW);
    assert.equal(factsOf(failing)[1], 'Branch main , cannot be read since 21 Nov 2026, 22:00:00 UTC');
    assert.match(bare(failing), /No commit has come into force yet/);
    assert.doesNotMatch(failing, /class="findings"/);
  });

  it('what needs a person: in lines, with commands to copy', () => {
    const banner = {
      title: 'Pool web is halted',
      text: 'one\n\nother',
      remedies: ['Try `kubelet-gitops why n1` first'],
    };
    const page = draw(
      {
        banners: [
          { ...banner, tone: 'bad' },
          { ...banner, tone: 'busy' },
        ],
      },
      OVERVIEW,
    );
    const shown = parts(page, /<article class="banner (?:bad|busy)">(.*?)<\/article>/gs);
    assert.deepEqual(shown.map(bare), [
      '✕ Pool web is halted one other Try kubelet-gitops why n1 first',
      '! Pool web is halted one other Try kubelet-gitops why n1 first',
    ]);
    assert.equal(parts(shown[0] ?? '', /<p>(.*?)<\/p>/g).length, 2);
    assert.deepEqual(parts(page, /<li>Try <code>(.*?)<\/code> first/g), [
      'kubelet-gitops why n1',
      'kubelet-gitops why n1',
    ]);
    assert.match(bare(draw({}, OVERVIEW)), /All good: nothing needs attention/);
  });

  it('whose word it is, and nothing of a pool that is not there', () => {
    assert.match(bare(draw({ leader: 'pod-a_7' }, OVERVIEW)), /waits for its turn.* pod-a leads; .* pod\/pod-a 8081/);
    assert.doesNotMatch(bare(draw({ leader: '' }, OVERVIEW)), /leads/);
    assert.doesNotMatch(bare(draw({}, OVERVIEW)), /waits for its turn/);
    assert.equal(renderPage(WORKING, { page: 'pool', pool: 'gone', filter: ALL_NODES }), null);
    const waiting = (over: Partial<WaitingModel>): string =>
      bare(
        toText(
          renderPage({ view: 'waiting', cluster: 'prod', version: '1', holder: '', leads: false, ...over }, OVERVIEW) ??
            assert.fail(),
        ),
      );
    assert.match(waiting({}), /waits for its turn.* Nobody leads now/);
    assert.match(waiting({ holder: 'pod-b' }), /pod-b leads\./);
    assert.match(waiting({ leads: true }), /This reconciler leads, and has yet to look/);
  });

  it('where one is: the link to the page that is shown says so', () => {
    const here = (question: PageRequest): readonly string[] =>
      parts(draw({}, question), /<a href="([^"]*)" aria-current="page">/g);
    assert.deepEqual([here(OVERVIEW), here(nodesPage()), here(POOL)], [['./'], ['nodes'], []]);
    assert.match(draw({ nodes: [node('n1')] }, nodesPage()), /<a href="nodes\?state=settled"/);
    assert.match(draw({}, POOL), /<a href="pool\?name=web&amp;state=updating"/);
  });
});
