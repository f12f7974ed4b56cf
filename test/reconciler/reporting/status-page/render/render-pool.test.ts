import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DONE,
  PLAIN,
  ROLLOUT,
  COUNTS,
  GENERATION,
  OVERVIEW,
  draw,
  poolPage,
  bare,
  parts,
  tableOf,
  rectsOf,
  factsOf,
} from '../support/drawn.ts';

describe('what the page shows of', () => {
  it('pools: each with its state, how many of its nodes are up to date, its config and why', () => {
    const classes = [{ name: 'cpu=4', nodes: 2, configName: 'web-4' }];
    const pools = [
      PLAIN,
      { ...PLAIN, name: 'gpu', state: 'settled', says: 'said', classes, counts: { ...COUNTS, nodes: 1 } } as const,
      { ...PLAIN, name: 'two', classes: [...classes, ...classes] },
    ];
    const page = draw({ pools }, OVERVIEW);
    assert.deepEqual(tableOf(page, 'Every pool'), [
      'Pool | State | Nodes | Config | Details',
      'web | ↻ rolling | 1 of 4 nodes up to date 3 settled 1 updating | web-new | 1 of 4 nodes',
      'gpu | ✓ settled | 1 of 1 node up to date 3 settled 1 updating | that of 1 class of machines | up to date',
      'two | ↻ rolling | 1 of 4 nodes up to date 3 settled 1 updating | one for each of 2 classes of machines | 1 of 4 nodes',
    ]);
    assert.equal(rectsOf(page, 'bar')[0], 'good settled 0.00 0 75.00 6, busy updating 75.00 0 25.00 6');
    assert.deepEqual(rectsOf(poolPage({ states: [] }), 'bar'), []);
  });

  it('rollouts: those under way, with their waves along a line of time', () => {
    const over = { ...PLAIN, name: 'done', rollout: { ...ROLLOUT, finishedAt: DONE } };
    const page = draw({ pools: [over, { ...PLAIN, name: 'none', rollout: null }, PLAIN] }, OVERVIEW);
    assert.deepEqual(parts(page, /<article>\s*<h3>(.*?)<\/h3>/gs), ['web']);
    assert.deepEqual(tableOf(page, 'web-new since 21 Nov 2026, 22:00:00 UTC , in 2 waves'), [
      'Wave | State | Nodes when it is done | Began | Done | Timeline',
      'canary | ✓ done | 1 | 22:00:00 | 23:30:05 |',
      'rest | ○ waiting | 4 | – | – |',
    ]);
    assert.deepEqual(rectsOf(page, 'bar wave'), ['good 0 0 400 6', 'quiet 0 0 0 6']);
    assert.match(bare(draw({ pools: [over] }, OVERVIEW)), /No rollout in progress\./);
    assert.match(bare(poolPage({ rollout: over.rollout })), /Last rollout .* finished 21 Nov 2026, 23:30:05 UTC/);
    assert.match(bare(poolPage({})), /Rollout in progress/);
    assert.doesNotMatch(bare(poolPage({ rollout: null })), /ollout/);
  });

  it('a moment of a rollout: never too narrow to be seen, and never beyond the line', () => {
    const span = (from: number, to: number): readonly string[] => {
      const [first = assert.fail()] = ROLLOUT.waves;
      return rectsOf(poolPage({ rollout: { ...ROLLOUT, waves: [{ ...first, span: { from, to } }] } }), 'bar wave');
    };
    assert.deepEqual([span(500, 500), span(998, 1_000)], [['good 500 0 10 6'], ['good 990 0 10 6']]);
  });

  it('generations: who began while how many might be on trial, and how they fared', () => {
    const generations = [
      { ...GENERATION, generation: 0, maxOnTrial: 1, nodes: ['n1'], promoted: 1, span: { from: 0, to: 100 } },
      {
        ...GENERATION,
        generation: 1,
        maxOnTrial: 2,
        nodes: ['a', 'b', 'c', 'd'],
        failed: 1,
        onTrial: 3,
        span: { from: 100, to: 200 },
      },
      {
        ...GENERATION,
        generation: 2,
        maxOnTrial: 4,
        nodes: ['e', 'f', 'g'],
        inProbation: 3,
        doneAt: null,
        span: { from: 200, to: 1_000 },
      },
    ];
    const page = poolPage({ rollout: { ...ROLLOUT, waves: [], generations } });
    assert.deepEqual(tableOf(page, 'Generations'), [
      'Generation | May be on trial | Nodes | State | Began | Done | Timeline',
      'canaries | 1 | n1 | ✓ 1 promoted | 22:00:00 | 22:07:00 |',
      'generation 1 | 2 | a, b, c and 1 more | ✕ 1 failed ◐ 3 on trial | 22:00:00 | 22:07:00 |',
      'generation 2 | 4 | e, f, g | ↻ 3 in probation | 22:00:00 | – |',
    ]);
    assert.deepEqual(rectsOf(page, 'bar wave'), ['good 0 0 100 6', 'bad 100 0 100 6', 'busy 200 0 800 6']);
    assert.doesNotMatch(poolPage({}), /Generations/);
  });

  it('classes of machines: the config of each, or why there is none', () => {
    const page = poolPage({
      classes: [
        { name: '', nodes: 2, message: 'too small' },
        { name: 'cpu=4', nodes: 3, updated: 1, configName: 'web-4' },
      ],
    });
    assert.deepEqual(tableOf(page, 'Each class'), [
      'Machines | Nodes | Run their config | Config',
      'others | 2 | – | none, so its nodes keep what they have: too small',
      'cpu=4 | 3 | 1 | web-4',
    ]);
    assert.doesNotMatch(poolPage({}), /Classes of machines/);
  });

  it('a pool: its config, the last one that all of them proved, why nodes wait, and what failed', () => {
    const page = poolPage({
      holds: [{ reason: 'budget', nodes: 2, message: 'maxUnavailable allows 1', examples: [] }],
      failures: [{ node: 'n1', reason: 'CrashLoop', message: 'exit-code 1', config: 'web-new', at: DONE }],
    });
    assert.deepEqual(factsOf(page), ['Config web-new', 'Last config that all of them proved web-old']);
    assert.match(bare(page), /Why nodes wait 2 nodes \( budget \): maxUnavailable allows 1/);
    assert.deepEqual(tableOf(page, 'took the config back'), [
      'Node | Reason | What the agent says | Config | When',
      'n1 | CrashLoop | exit-code 1 | web-new | 21 Nov 2026, 23:30:05 UTC',
    ]);
    const calm = poolPage({ settledOn: '', rollout: null });
    assert.deepEqual(factsOf(calm), ['Config web-new']);
    assert.doesNotMatch(calm, /Why nodes wait|Failures/);
    assert.deepEqual(factsOf(poolPage({ classes: [{ name: 'a', nodes: 1, configName: 'x' }] })), [
      'Config that of 1 class of machines',
    ]);
  });
});
