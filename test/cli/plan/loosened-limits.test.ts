import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { InventoryNode } from '#cli/inventory/inventory-node.ts';
import { plain } from '#cli/paint.ts';
import { makePlan } from '#cli/plan/make-plan.ts';
import { planAsMarkdown } from '#cli/plan/render/markdown.ts';
import { planAsText } from '#cli/plan/render/text.ts';
import { seededRandom } from '#cli/seeded-random.ts';
import { simulate } from '#cli/simulate/simulate.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { commit, COMMIT_A, COMMIT_B, NOW, poolSpec, validPool } from '../../support/fleet.ts';
import { inventoryNodes } from '../support/inventory-node.ts';

const { probation: _, ...rollout } = poolSpec().rollout;
const TIGHT: Partial<KubeletPoolSpec> = { rollout };
const LOOSE: Partial<KubeletPoolSpec> = {
  rollout: { ...rollout, maxUnavailable: '100%', maxOnTrial: '100%', onFailure: { threshold: 50, action: 'halt' } },
};
const old = validPool('workers', 100, TIGHT);
const NODES = inventoryNodes(10, 'n');

const planned = (from: ValidPool, to: ValidPool, nodes: readonly InventoryNode[] = NODES) =>
  makePlan({
    base: { name: 'base', commit: COMMIT_A, repo: commit(COMMIT_A, from).repo, kept: new Map() },
    head: { name: 'head', repo: commit(COMMIT_B, to).repo },
    cluster: 'prod',
    nodes,
    inForce: undefined,
  });
const linesOf = (text: string): readonly string[] =>
  text.split('\n').flatMap((line) => (line.includes('looser') ? [line.trim()] : []));
const said = (...about: Parameters<typeof planned>): readonly string[] => linesOf(planAsText(planned(...about), plain));

const REACHED =
  '! workers: looser limits, in nodes of 10 that a bad config reaches: ' +
  'rollout.maxUnavailable 1 → 1, rollout.onFailure 1 → 1, rollout.maxOnTrial 1 → 1, together 1 → 10';

describe('a plan of a commit that loosens limits of a pool', () => {
  it('says how far a bad config gets by each, before and after, and by all together', () => {
    assert.deepEqual(said(old, validPool('workers', 100, LOOSE)), [REACHED]);
  });

  it('says that they hold until the nodes have proven what changes with them', () => {
    const until = '; until these nodes have proven their config, or the next commit, the former hold';
    assert.deepEqual(said(old, validPool('workers', 110, LOOSE)), [`${REACHED}${until}`]);
  });

  it('says which without knowing the nodes', () => {
    assert.deepEqual(said(old, validPool('workers', 100, LOOSE), []), [
      '! workers: looser limits: rollout.maxUnavailable, rollout.onFailure, rollout.maxOnTrial',
    ]);
  });

  it('and nothing where they are tightened, or stay', () => {
    assert.deepEqual(said(validPool('workers', 100, LOOSE), validPool('workers', 110, TIGHT)), []);
    assert.deepEqual(said(old, validPool('workers', 110, TIGHT)), []);
  });

  it('says that its times are without the approvals that it still waits for', () => {
    const paused = validPool('workers', 100, { rollout: { ...rollout, canary: { nodes: 1, pause: true } } });
    const { rollout: found } = planned(paused, validPool('workers', 110, TIGHT)).pools[0] ?? {};
    assert.deepEqual([found?.untimed, found?.stages[0]?.approval], [['approvals'], true]);
  });

  it('goes by the limits that hold, as the simulation does', () => {
    const [loose, tight] = [LOOSE, TIGHT].map((spec) => validPool('workers', 110, spec));
    assert.ok(loose !== undefined && tight !== undefined);
    const [held, usual] = [loose, tight].map((pool) => planned(old, pool).pools[0]?.rollout);
    assert.deepEqual([held?.budget, held?.waves, held?.worth], [1, usual?.waves, usual?.worth]);
    const [one, other] = [loose, tight].map((pool) =>
      simulate({
        base: commit(COMMIT_A, old).repo,
        head: commit(COMMIT_B, pool).repo,
        nodes: NODES,
        manners: { failureRate: 0, restartMs: 10_000, random: seededRandom(1) },
        start: NOW,
        horizonMs: 100 * 3_600_000,
      }).events.map(({ event, node, at }) => `${at} ${event} ${node}`),
    );
    assert.deepEqual(one, other);
  });

  it('says what else guards its nodes no more', () => {
    const [reverting, halting] = (['revert', 'halt'] as const).map((action) =>
      validPool('workers', 100, { rollout: { ...rollout, onFailure: { threshold: 1, action } } }),
    );
    const hasty = validPool('workers', 100, { rollout: { ...rollout, emergency: 'a CVE' } });
    assert.ok(reverting !== undefined && halting !== undefined);
    const warned = (from: ValidPool, to: ValidPool): readonly string[] =>
      planAsText(planned(from, to), plain)
        .split('\n')
        .filter((line) => line.startsWith('! '));
    assert.match(warned(reverting, halting).join('\n'), /^! workers: rollout\.onFailure\.action revert → halt: /);
    assert.match(warned(old, hasty).join('\n'), /^! workers: rollout\.emergency: /);
    assert.deepEqual([...warned(halting, reverting), ...warned(hasty, old)], []);
  });

  it('says that a person is asked after fewer waves', () => {
    const asking = (pauses: readonly boolean[]): ValidPool =>
      validPool('workers', 100, {
        rollout: { ...rollout, steps: pauses.map((pause, index) => ({ nodes: index + 1, pause })) },
      });
    const lines = (from: readonly boolean[], to: readonly boolean[]): readonly string[] =>
      planAsText(planned(asking(from), asking(to)), plain)
        .split('\n')
        .filter((line) => line.includes('approve'));
    assert.deepEqual(lines([true], [false]), ['! workers: rollout pause: a person is asked to approve after no wave']);
    assert.deepEqual(lines([true, true], [true, false]), [
      '! workers: rollout pause: a person is asked to approve after 1 instead of 2 waves',
    ]);
    assert.deepEqual([...lines([false], [true]), ...lines([true], [true])], []);
  });

  it('marks it in a comment', () => {
    const text = planAsMarkdown(planned(old, validPool('workers', 110, LOOSE)));
    assert.match(linesOf(text).join('\n'), /^- 🔓 \*\*workers: looser limits/);
  });
});
