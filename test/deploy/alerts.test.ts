import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { without } from '../support/required-tools.ts';
import { scrapeOfWaiting, type Suspender } from '../support/waiting-scrape.ts';
import { servedNames } from './served-metrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<'summary' | 'description' | 'runbook_url', string>>;
}

const FILE = 'deploy/components/monitoring/prometheus-rule.yaml';
const { spec } = parse(readFileSync(FILE, 'utf8')) as { spec: { groups: readonly { rules: readonly Rule[] }[] } };
const rules = spec.groups.flatMap((group) => group.rules);

/** Series as promtool writes them, once a minute for two days: what wakes somebody, and what is like it and does not. */
const CASES: Readonly<Record<string, readonly [at: string, fires: Series, rests: Series]>> = {
  KubeletGitopsNodeBroken: [
    '5m',
    { 'kubelet_gitops_node_phase{node="a", phase="Broken"}': '1x3000' },
    { 'kubelet_gitops_node_phase{node="a", phase="Broken"}': '0x3000' },
  ],
  KubeletGitopsPoolHalted: [
    '5m',
    { 'kubelet_gitops_pool_phase{pool="a", phase="Halted"}': '1x3000' },
    { 'kubelet_gitops_pool_phase{pool="a", phase="Waiting"}': '1x3000' },
  ],
  KubeletGitopsNoLeader: [
    '10m',
    { 'kubelet_gitops_leader{instance="a"}': '0x3000' },
    { 'kubelet_gitops_leader{instance="a"}': '0x3000', 'kubelet_gitops_leader{instance="b"}': '1x3000' },
  ],
  KubeletGitopsPassesFail: [
    '30m',
    {
      'kubelet_gitops_reconcile_last_timestamp_seconds{instance="a"}': '60x3000',
      'kubelet_gitops_leader{instance="a"}': '1x3000',
    },
    {
      'kubelet_gitops_reconcile_last_timestamp_seconds{instance="a"}': '60x3000',
      'kubelet_gitops_leader{instance="a"}': '0x3000',
    },
  ],
  KubeletGitopsNodeConfigError: [
    '10m',
    { 'kubelet_gitops_node_config_error{node="a"}': '1x3000' },
    { 'kubelet_gitops_node_config_error{node="a"}': '1x8 0x3000' },
  ],
  KubeletGitopsNodeDrifted: [
    '15m',
    { 'kubelet_gitops_node_phase{node="a", phase="Drifted"}': '1x3000' },
    { 'kubelet_gitops_node_phase{node="a", phase="Drifted"}': '1x3 0x3000' },
  ],
  KubeletGitopsNodeUnhealthy: [
    '15m',
    { 'kubelet_gitops_node_condition{instance="a", condition="KubeletConfigHealthy"}': '0x3000' },
    {
      'kubelet_gitops_node_condition{instance="a", condition="KubeletConfigHealthy"}': '0x3000',
      'kubelet_gitops_node_phase{instance="a", phase="Drifted"}': '1x3000',
    },
  ],
  KubeletGitopsNodeUnguarded: [
    '90m',
    { 'kubelet_gitops_node_condition{node="a", condition="Guarded"}': '0x3000' },
    {
      'kubelet_gitops_node_condition{node="a", condition="Guarded"}': '-1x3000',
      'kubelet_gitops_node_condition{node="b", condition="Guarded"}': '1x3000',
    },
  ],
  KubeletGitopsCheckpointsDamaged: [
    '90m',
    { 'kubelet_gitops_node_condition{node="a", condition="CheckpointsIntact"}': '0x3000' },
    {
      'kubelet_gitops_node_condition{node="a", condition="CheckpointsIntact"}': '-1x3000',
      'kubelet_gitops_node_condition{node="b", condition="CheckpointsIntact"}': '1x3000',
    },
  ],
  KubeletGitopsGitStale: [
    '30m',
    {
      'kubelet_gitops_git_last_success_timestamp_seconds{instance="a"}': '0x3000',
      'kubelet_gitops_leader{instance="a"}': '1x3000',
    },
    {
      'kubelet_gitops_git_last_success_timestamp_seconds{instance="a"}': '0+60x3000',
      'kubelet_gitops_leader{instance="a"}': '1x3000',
    },
  ],
  KubeletGitopsCommitRefused: [
    '15m',
    { kubelet_gitops_commit_refused: '1x3000' },
    { kubelet_gitops_commit_refused: '0x3000' },
  ],
  KubeletGitopsPoolConfigInvalid: [
    '45m',
    { 'kubelet_gitops_pool_config_valid{pool="a"}': '0x3000' },
    { 'kubelet_gitops_pool_config_valid{pool="a"}': '1x3000' },
  ],
  KubeletGitopsRolloutStuck: [
    '8h',
    {
      'kubelet_gitops_pool_phase{pool="a", phase="Progressing"}': '1x3000',
      'kubelet_gitops_pool_nodes{pool="a", state="updated"}': '7x3000',
    },
    {
      'kubelet_gitops_pool_phase{pool="a", phase="Progressing"}': '1x3000',
      'kubelet_gitops_pool_nodes{pool="a", state="updated"}': '0+1x3000',
    },
  ],
  KubeletGitopsRolloutWaits: [
    '26h',
    {
      'kubelet_gitops_pool_phase{pool="a", phase="Waiting"}': '1x3000',
      'kubelet_gitops_pool_suspended{pool="a"}': '0x3000',
    },
    {
      'kubelet_gitops_pool_phase{pool="a", phase="Waiting"}': '1x3000',
      'kubelet_gitops_pool_suspended{pool="a"}': '1x3000',
    },
  ],
  KubeletGitopsPoolBlocked: [
    '15m',
    { 'kubelet_gitops_pool_blocking_node{pool="a", node="w1"}': '1x3000' },
    { 'kubelet_gitops_pool_blocking_node{pool="a", node="w1"}': '1x6 _x6 1x3000' },
  ],
  KubeletGitopsAgentsSilent: [
    '20m',
    { kubelet_gitops_agents_silent: '2x3000' },
    { kubelet_gitops_agents_silent: '0x3000' },
  ],
  KubeletGitopsNodesWithoutAgent: [
    '90m',
    { 'kubelet_gitops_pool_nodes{pool="a", state="no-agent"}': '1x3000' },
    { 'kubelet_gitops_pool_nodes{pool="a", state="pending"}': '1x3000' },
  ],
  KubeletGitopsNodesInConflict: [
    '20m',
    { 'kubelet_gitops_nodes_left_alone{reason="conflict"}': '1x3000' },
    { 'kubelet_gitops_nodes_left_alone{reason="opted-out"}': '1x3000' },
  ],
  KubeletGitopsWritesRefused: [
    '20m',
    { kubelet_gitops_writes_left: '1x3000' },
    { kubelet_gitops_writes_left: '1x3 0x3 1x3 0x3 1x3 0x3000' },
  ],
  KubeletGitopsCredentialExpires: [
    '30m',
    { 'kubelet_gitops_expiration_timestamp_seconds{instance="a", purpose="git-credential"}': '600000x3000' },
    { 'kubelet_gitops_expiration_timestamp_seconds{instance="a", purpose="git-credential"}': '1e7x3000' },
  ],
  KubeletGitopsNodeCertificateExpires: [
    '2h',
    {
      'kubelet_gitops_node_expiration_timestamp_seconds{node="a", purpose="kubelet-serving-certificate"}':
        '600000x3000',
      'kubelet_gitops_node_validity_seconds{node="a", purpose="kubelet-serving-certificate"}': '31536000x3000',
    },
    {
      // Good for a day, and renewed by the kubelet before its last tenth.
      'kubelet_gitops_node_expiration_timestamp_seconds{node="a", purpose="kubelet-serving-certificate"}': '86400x3000',
      'kubelet_gitops_node_validity_seconds{node="a", purpose="kubelet-serving-certificate"}': '86400x3000',
    },
  ],
  KubeletGitopsNotesNotWritten: [
    '2h',
    { kubelet_gitops_notes_working: '0x3000' },
    { kubelet_gitops_notes_working: '1x3000' },
  ],
  KubeletGitopsStatusesNotPosted: [
    '2h',
    { kubelet_gitops_commit_statuses_working: '0x3000' },
    { kubelet_gitops_commit_statuses_working: '1x3000' },
  ],
};
type Series = Readonly<Record<string, string>>;

describe('the alerts', () => {
  it('each have a page in the runbooks, and no page is of an alert that is not there', () => {
    const pages = globSync('docs/runbooks/KubeletGitops*.md').map((path) => basename(path, '.md'));
    assert.deepEqual(pages.toSorted(), rules.map(({ alert }) => alert).toSorted());
    for (const { alert, annotations } of rules) {
      assert.match(annotations.runbook_url, new RegExp(`^https://[\\w./-]+/docs/runbooks/${alert}\\.md$`));
      assert.ok(annotations.summary !== '' && annotations.description !== '');
    }
  });

  it('ask for nothing but what the programs serve', async () => {
    const served = await servedNames();
    const asked = new Set(rules.flatMap(({ expr }) => expr.match(/\bkubelet_gitops_\w+/g) ?? []));
    assert.deepEqual(
      [...asked].filter((name) => !served.has(name)),
      [],
    );
  });

  it('each are tried', () => {
    assert.deepEqual(Object.keys(CASES).toSorted(), rules.map(({ alert }) => alert).toSorted());
  });
});

const skip = without('promtool', ['--version'], 'nothing proves that Prometheus takes the rules');

describeOrSkip('Prometheus', { skip }, () => {
  let directory = '';
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'alerts-'));
    await writeFile(join(directory, 'rules.yaml'), stringify(spec));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  it('takes the rules', () => {
    execFileSync('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', join(directory, 'rules.yaml')]);
  });

  it('fires each alert for what it is for, and not for what is like it', async () => {
    const files: string[] = [];
    for (const [alert, [at, fires, rests]] of Object.entries(CASES)) {
      // Each with its own rule alone: promtool evaluates all that it is given at every minute of every case.
      const own = rules.filter((rule) => rule.alert === alert);
      await writeFile(join(directory, `${alert}.yaml`), stringify({ groups: [{ name: alert, rules: own }] }));
      const tests = [caseOf(alert, at, fires, 1), caseOf(alert, at, rests, 0)];
      const file = join(directory, `${alert}-cases.yaml`);
      await writeFile(file, stringify({ rule_files: [`${alert}.yaml`], tests }));
      files.push(file);
    }
    testRules(files);
  });

  it('fires for a pool that waits, however long, only where no person suspended it', async () => {
    const alert = 'KubeletGitopsRolloutWaits';
    const own = rules.filter((rule) => rule.alert === alert);
    await writeFile(join(directory, 'waits.yaml'), stringify({ groups: [{ name: alert, rules: own }] }));
    const suspenders: readonly Suspender[] = ['nobody', 'command', 'pool.yaml', 'cluster file'];
    const cases = suspenders.map(async (by) =>
      caseOf(alert, '26h', seriesIn(await scrapeOfWaiting(by)), by === 'nobody' ? 1 : 0),
    );
    const file = join(directory, 'waits-cases.yaml');
    await writeFile(file, stringify({ rule_files: ['waits.yaml'], tests: await Promise.all(cases) }));
    testRules([file]);
  });
});

function testRules(files: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', ...files], { encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}${stderr}`);
}

/** What a scrape says of pools, unchanged for two days. */
const seriesIn = (scrape: string): Series =>
  Object.fromEntries(
    [...scrape.matchAll(/^(kubelet_gitops_pool_\w+\{[^}]*\}) (\d+)$/gm)].map(([, name = '', value]) => [
      name,
      `${value}x3000`,
    ]),
  );

function caseOf(alert: string, at: string, series: Series, firing: 0 | 1): object {
  return {
    name: `${alert}: ${firing}`,
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}", alertstate="firing"}) or vector(0)`,
        eval_time: at,
        exp_samples: [{ labels: '{}', value: firing }],
      },
    ],
  };
}
