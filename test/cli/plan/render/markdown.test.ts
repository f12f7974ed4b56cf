import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MergePlan, PoolPlan } from '#cli/plan/merge-plan.ts';
import { failureAsMarkdown, planAsMarkdown } from '#cli/plan/render/markdown.ts';

const TIME = { expectedMs: 0, quickMs: 0, slowMs: 0 };

const pool = (more: Partial<PoolPlan>): PoolPlan => ({
  name: 'general',
  change: 'changed',
  from: undefined,
  configBefore: undefined,
  configAfter: undefined,
  fields: [],
  unset: { before: 'default', after: 'default' },
  cost: undefined,
  spec: [],
  members: 0,
  nodes: [],
  waits: undefined,
  rollout: undefined,
  ...more,
});

const field = (path: string, after: string): PoolPlan =>
  pool({ fields: [{ path, before: undefined, after, default: undefined, cost: 'restart', risk: undefined }] });

/** The comment for a plan that says this besides; all of it comes from whoever opened the pull request. */
function comment(more: Partial<MergePlan>): string {
  return planAsMarkdown({
    base: 'main',
    head: 'HEAD',
    cluster: 'demo',
    knowsNodes: false,
    pools: [],
    moves: [],
    conflicts: [],
    clusterSpec: [],
    held: undefined,
    refusal: undefined,
    findings: [],
    summary: {
      pools: 0,
      nodes: 0,
      restarts: 0,
      reboots: 0,
      refused: 0,
      waiting: 0,
      takenOver: 0,
      untimed: [],
      ...TIME,
    },
    ...more,
  });
}

const ofPools = (...pools: readonly PoolPlan[]): string => comment({ pools });

describe('the comment on a pull request', () => {
  it('shows the name of a folder as text, and calls nobody', () => {
    const text = ofPools(pool({ name: '@ada <img src=x> [a](b)', change: 'invalid' }));
    assert.match(text, /^#### Pool @\u200Bada \\<img src=x\\> \\\[a\\\]\(b\) has errors/m);
  });

  it('calls nobody whom the cluster file names where it is quoted', () => {
    const text = comment({
      held: 'clusters/demo.yaml:4:3: error: spec["@org/team"] is not a field',
      pools: [pool({})],
    });
    assert.match(text, /\["@\u200Borg\/team"\\\]/);
  });

  it('keeps code in its fence, however many backticks it has', () => {
    assert.match(ofPools(field('a', '"``<b>`"')), /\| ``` "``<b>`" ``` \|/);
    assert.match(ofPools(pool({ spec: ['blockers: ```<b>'] })), /^- ```` blockers: ```<b> ````$/m);
  });

  it('keeps a field in one cell of one line, whatever its name', () => {
    assert.match(
      ofPools(field('a`|\n# b', '1')),
      /^\| `` a`\\\| # b `` \| `not set` \| `1` \| restart of the kubelet \|$/m,
    );
    assert.match(ofPools(field('a\\|b', '1')), /^\| `a\\\|b` \| /m);
    assert.match(ofPools(field('a\\\\|b', '1')), /^\| `a\\\\\\\|b` \| /m);
  });

  it('says after which wave it waits for a person, with what to type', () => {
    const rollout = {
      budget: 1,
      stages: [
        { name: 'canary', nodes: ['a'], approval: true },
        { name: 'step 1', nodes: [], approval: true },
        { name: 'rest', nodes: ['b'] },
      ],
      waves: [['a'], ['b']],
      ...TIME,
      untimed: ['approvals'],
      worth: [],
    } as const;
    const said = ofPools(pool({ rollout })).match(/canary: a|step 1: no more nodes|approve general/g);
    assert.deepEqual(said, ['canary: a', 'approve general', 'step 1: no more nodes', 'approve general']);
  });

  it('shows a bar outside of tables as it is', () => {
    assert.match(ofPools(pool({ spec: ['a: 1|2'] })), /^- `a: 1\|2`$/m);
  });

  it('ends its marker once, also where a file gives the cluster its name', () => {
    for (const text of [comment({ cluster: 'x--><b>' }), failureAsMarkdown('x--><b>', 'no')]) {
      assert.match(text, /^<!-- kubelet-gitops plan: x--<b -->\n\n### kubelet-gitops: .* `x--><b>`\n/);
    }
  });

  it('has what was found also beside a change that fills it, or that is one long value', () => {
    const finding = { code: 'weakens-security', severity: 'warning', kind: 'security', message: 'mind' } as const;
    const lines = Array.from({ length: 4_000 }, (_, index) => `rollout.a${index}: 1 → 2`);
    for (const change of [pool({ spec: lines }), field('clusterDomain', '9'.repeat(250_000))]) {
      const text = comment({ pools: [change], findings: [finding] });
      assert.ok(text.length <= 60_100, `${text.length}`);
      assert.match(text, /^- 🔓 `.*weakens-security: mind`$/m);
    }
    assert.match(ofPools(field('a', '9'.repeat(250_000))), /\| `9{2000}…` \|/);
    const many = comment({
      pools: [pool({ spec: lines })],
      findings: lines.map((message) => ({ ...finding, message })),
    });
    assert.ok(many.length <= 60_200 && many.match(/_Cut: /g)?.length === 2, `${many.length}`);
  });

  it('begins no line with what went wrong', () => {
    assert.match(failureAsMarkdown('demo', 'a\n# b'), /^❌ The plan could not be made: a # b$/m);
  });
});
