import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { without } from '../support/required-tools.ts';
import { scrapeOfWaiting, type Suspender } from '../support/waiting-scrape.ts';
import { servedNames } from './served-metrics.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

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

/**
 * What wakes somebody, and what is like it and does not: our series without their prefix, and a value for each minute of two days, as
 * promtool writes it but for the number of minutes.
 */
const CASES: Readonly<Record<string, readonly [at: string, fires: Lines, rests: Lines]>> = {
  KubeletGitopsNodeBroken: ['5m', 'node_phase{node="a", phase="Broken"} 1', 'node_phase{node="a", phase="Broken"} 0'],
  KubeletGitopsPoolAtRisk: ['5m', 'pool_at_risk{pool="a"} 1', 'pool_at_risk{pool="a"} 0'],
  KubeletGitopsPoolHalted: ['5m', 'pool_halt_info{pool="a"} 1', 'pool_phase{pool="a", phase="Waiting"} 1'],
  KubeletGitopsNoLeader: ['10m', 'leader{instance="a"} 0', ['leader{instance="a"} 0', 'leader{instance="b"} 1']],
  KubeletGitopsPassesFail: [
    '30m',
    ['reconcile_last_timestamp_seconds{instance="a"} 60', 'leader{instance="a"} 1'],
    ['reconcile_last_timestamp_seconds{instance="a"} 60', 'leader{instance="a"} 0'],
  ],
  KubeletGitopsNodeConfigError: ['10m', 'node_config_error{node="a"} 1', 'node_config_error{node="a"} 1x8 0'],
  KubeletGitopsNodeDrifted: [
    '15m',
    'node_phase{node="a", phase="Drifted"} 1',
    'node_phase{node="a", phase="Drifted"} 1x3 0',
  ],
  KubeletGitopsNodeUnhealthy: [
    '15m',
    'node_condition{instance="a", condition="KubeletConfigHealthy"} 0',
    ['node_condition{instance="a", condition="KubeletConfigHealthy"} 0', 'node_phase{instance="a", phase="Drifted"} 1'],
  ],
  KubeletGitopsNodeUnguarded: [
    '90m',
    'node_condition{node="a", condition="Guarded"} 0',
    ['node_condition{node="a", condition="Guarded"} -1', 'node_condition{node="b", condition="Guarded"} 1'],
  ],
  KubeletGitopsCheckpointsDamaged: [
    '90m',
    'node_condition{node="a", condition="CheckpointsIntact"} 0',
    [
      'node_condition{node="a", condition="CheckpointsIntact"} -1',
      'node_condition{node="b", condition="CheckpointsIntact"} 1',
    ],
  ],
  KubeletGitopsGitStale: [
    '30m',
    ['git_last_success_timestamp_seconds{instance="a"} 0', 'leader{instance="a"} 1'],
    ['git_last_success_timestamp_seconds{instance="a"} 0+60', 'leader{instance="a"} 1'],
  ],
  KubeletGitopsCommitRefused: ['15m', 'commit_refused 1', 'commit_refused 0'],
  KubeletGitopsFollowedSilent: [
    '37h',
    ['followed_silent_since_timestamp_seconds{instance="a", cluster="staging"} 0', 'leader{instance="a"} 1'],
    ['followed_silent_since_timestamp_seconds{instance="a", cluster="staging"} 0+60', 'leader{instance="a"} 1'],
  ],
  KubeletGitopsPoolConfigInvalid: ['45m', 'pool_config_valid{pool="a"} 0', 'pool_config_valid{pool="a"} 1'],
  KubeletGitopsRolloutStuck: [
    '8h',
    ['pool_phase{pool="a", phase="Progressing"} 1', 'pool_nodes{pool="a", state="updated"} 7'],
    ['pool_phase{pool="a", phase="Progressing"} 1', 'pool_nodes{pool="a", state="updated"} 0+1'],
  ],
  KubeletGitopsRolloutWaits: [
    '26h',
    ['pool_phase{pool="a", phase="Waiting"} 1', 'pool_suspended{pool="a"} 0'],
    [
      'pool_phase{pool="a", phase="Waiting"} 1',
      'pool_suspended{pool="a"} 1',
      'pool_phase{pool="b", phase="Waiting"} 1',
      'pool_waits_for_approval_since_timestamp_seconds{pool="b", config="b-1"} 0',
    ],
  ],
  KubeletGitopsWaitsForApproval: [
    '17h',
    'pool_waits_for_approval_since_timestamp_seconds{pool="a", config="a-1"} 0',
    [
      'pool_waits_for_approval_since_timestamp_seconds{pool="a", config="a-1"} 0',
      'pool_waits_for_approval_since_timestamp_seconds{pool="b", config="b-1"} 36000',
      'pool_suspended{pool="a"} 1',
    ],
  ],
  KubeletGitopsPoolBlocked: [
    '15m',
    'pool_blocking_node{pool="a", node="w1"} 1',
    'pool_blocking_node{pool="a", node="w1"} 1x6 _x6 1',
  ],
  KubeletGitopsAgentsSilent: ['20m', 'agents_silent 2', 'agents_silent 0'],
  KubeletGitopsNodesWithoutAgent: [
    '90m',
    'pool_nodes{pool="a", state="no-agent"} 1',
    'pool_nodes{pool="a", state="pending"} 1',
  ],
  KubeletGitopsNodesInConflict: [
    '20m',
    'nodes_left_alone{reason="conflict"} 1',
    'nodes_left_alone{reason="opted-out"} 1',
  ],
  KubeletGitopsWritesRefused: ['20m', 'writes_left 1', 'writes_left 1x3 0x3 1x3 0x3 1x3 0'],
  KubeletGitopsCredentialExpires: [
    '30m',
    'expiration_timestamp_seconds{instance="a", purpose="git-credential"} 600000',
    'expiration_timestamp_seconds{instance="a", purpose="git-credential"} 1e7',
  ],
  // The second one is good for a day, and renewed by the kubelet before its last tenth.
  KubeletGitopsNodeCertificateExpires: [
    '2h',
    [
      'node_expiration_timestamp_seconds{node="a", purpose="kubelet-serving-certificate"} 600000',
      'node_validity_seconds{node="a", purpose="kubelet-serving-certificate"} 31536000',
    ],
    [
      'node_expiration_timestamp_seconds{node="a", purpose="kubelet-serving-certificate"} 86400',
      'node_validity_seconds{node="a", purpose="kubelet-serving-certificate"} 86400',
    ],
  ],
  KubeletGitopsNotificationsNotSent: [
    '45m',
    'notifications_working{receiver="chat"} 0',
    'notifications_working{receiver="chat"} 1',
  ],
  KubeletGitopsNotesNotWritten: ['2h', 'notes_working 0', 'notes_working 1'],
  KubeletGitopsStatusesNotPosted: ['2h', 'commit_statuses_working 0', 'commit_statuses_working 1'],
};
type Lines = string | readonly string[];
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
  const directory = temporaryDirectory();
  before(async () => {
    await writeFile(join(directory, 'rules.yaml'), stringify(spec));
  });

  it('takes the rules', () => {
    execFileSync('promtool', ['check', 'rules', '--lint=all', '--lint-fatal', join(directory, 'rules.yaml')]);
  });

  it('fires each alert for what it is for, and not for what is like it', async () => {
    const files: string[] = [];
    for (const [alert, [at, fires, rests]] of Object.entries(CASES)) {
      // Each with its own rule alone: promtool evaluates all that it is given at every minute of every case.
      const own = rules.filter((rule) => rule.alert === alert);
      await writeFile(join(directory, `${alert}.yaml`), stringify({ groups: [{ name: alert, rules: own }] }));
      const tests = [caseOf(alert, at, seriesOf(fires), 1), caseOf(alert, at, seriesOf(rests), 0)];
      const file = join(directory, `${alert}-cases.yaml`);
      await writeFile(file, stringify({ rule_files: [`${alert}.yaml`], tests }));
      files.push(file);
    }
    testRules(files);
  });

  it('fires when a rollout has stood still for three hours, and not when one has just begun', async () => {
    const alert = 'KubeletGitopsRolloutStuck';
    const own = rules.filter((rule) => rule.alert === alert);
    await writeFile(join(directory, 'stuck.yaml'), stringify({ groups: [{ name: alert, rules: own }] }));
    const phase = 'kubelet_gitops_pool_phase{pool="a", phase="Progressing"}';
    const updated = 'kubelet_gitops_pool_nodes{pool="a", state="updated"}';
    // It moves last after ten minutes; the second one begins after five quiet hours.
    const moved = { [phase]: '1x600', [updated]: '0x9 1x600' };
    const begun = { [phase]: '0x300 1x600', [updated]: '7x900' };
    const cases = [
      caseOf(alert, '3h', moved, 0),
      caseOf(alert, '3h20m', moved, 1),
      caseOf(alert, '5h30m', begun, 0),
      caseOf(alert, '8h', begun, 0),
      caseOf(alert, '8h10m', begun, 1),
    ];
    const file = join(directory, 'stuck-cases.yaml');
    await writeFile(file, stringify({ rule_files: ['stuck.yaml'], tests: cases }));
    testRules([file]);
  });

  it('says of a halted pool what changed, by whom, and on which nodes it failed', async () => {
    const own = rules.filter(({ alert }) => /PoolHalted|PoolAtRisk/.test(alert));
    await writeFile(join(directory, 'halt.yaml'), stringify({ groups: [{ name: 'halt', rules: own }] }));
    const info = { pool: 'a', config: 'a-1', commit: 'c372e46', author: 'Ada', changed: 'maxPods: 114 → 120' };
    const labels = Object.entries(info).map(([name, value]) => `${name}="${value}"`);
    const series = {
      [`kubelet_gitops_pool_halt_info{${labels.join(', ')}}`]: '1x60',
      'kubelet_gitops_pool_failed_node{pool="a", node="w1", reason="CrashLoop", commit="c372e46"}': '1x60',
      'kubelet_gitops_pool_failed_node{pool="a", node="w2", reason="NotReady", commit="c372e46"}': '1x60',
      'kubelet_gitops_pool_failed_node{pool="b", node="w9", reason="CrashLoop", commit="d"}': '1x60',
      'kubelet_gitops_pool_at_risk{pool="a"}': '1x60',
    };
    const of = (name: string): Rule['annotations'] =>
      own.find(({ alert }) => alert === name)?.annotations ?? assert.fail();
    const fired = (alert: string, severity: string, more: object, summary: string, description: string): object => ({
      eval_time: '10m',
      alertname: alert,
      exp_alerts: [
        {
          exp_labels: { severity, pool: 'a', ...more },
          exp_annotations: { summary, description, runbook_url: of(alert).runbook_url },
        },
      ],
    });
    const test = {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [
        fired(
          'KubeletGitopsPoolHalted',
          'warning',
          info,
          'The pool a is halted by commit c372e46 (Ada)',
          'Changed: maxPods: 114 → 120. Failed: w1 (CrashLoop), w2 (NotReady). No further node gets the config. While KubeletGitopsPoolAtRisk is quiet, nothing gets worse.',
        ),
        fired(
          'KubeletGitopsPoolAtRisk',
          'critical',
          {},
          'The pool a is halted, and nodes that got its config are not well',
          'Failed: w1 (CrashLoop, commit c372e46), w2 (NotReady, commit c372e46). Changed: maxPods: 114 → 120, by Ada. Pods there are at risk.',
        ),
      ],
    };
    const file = join(directory, 'halt-cases.yaml');
    await writeFile(file, stringify({ rule_files: ['halt.yaml'], tests: [test] }));
    testRules([file]);
  });

  it('says of a node that fails with which config of which commit, and why', async () => {
    const own = rules.filter(({ alert }) => /NodeBroken|NodeConfigError/.test(alert));
    await writeFile(join(directory, 'node.yaml'), stringify({ groups: [{ name: 'node', rules: own }] }));
    const failed = 'kubelet_gitops_pool_failed_node';
    const series = {
      'kubelet_gitops_node_phase{node="w1", phase="Broken"}': '1x60',
      [`${failed}{pool="a", node="w1", reason="KubeletBroken", commit="c372e46"}`]: '1x60',
      'kubelet_gitops_node_config_error{node="w2"}': '1x60',
      [`${failed}{pool="a", node="w2", reason="CrashLoop", commit="c372e46"}`]: '1x60',
      'kubelet_gitops_node_config_error{node="w3"}': '1x60',
      'kubelet_gitops_node_config_error_info{node="w3", reason="DownloadFailed"}': '1x60',
    };
    const before = 'It runs the one before, or its local config.';
    const said: readonly (readonly [alert: string, severity: string, labels: object, description: string])[] = [
      [
        'KubeletGitopsNodeBroken',
        'critical',
        { node: 'w1', phase: 'Broken' },
        'The agent has tried the assigned config (pool a, commit c372e46, KubeletBroken) and the ones before it. It waits for a person: look at the kubelet there first.',
      ],
      ['KubeletGitopsNodeConfigError', 'warning', { node: 'w2' }, `${before} Pool a, commit c372e46: CrashLoop.`],
      [
        'KubeletGitopsNodeConfigError',
        'warning',
        { node: 'w3' },
        `${before} DownloadFailed, which is not blamed on the config.`,
      ],
    ];
    const expected = Map.groupBy(said, ([alert]) => alert);
    const test = {
      interval: '1m',
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [...expected].map(([alertname, each]) => ({
        eval_time: '10m',
        alertname,
        exp_alerts: each.map(([alert, severity, labels, description]) => {
          const { node } = labels as { node: string };
          const { summary = '', runbook_url } = own.find((rule) => rule.alert === alert)?.annotations ?? {};
          const named = summary.replace('{{ $labels.node }}', node);
          return { exp_labels: { severity, ...labels }, exp_annotations: { summary: named, description, runbook_url } };
        }),
      })),
    };
    const file = join(directory, 'node-cases.yaml');
    await writeFile(file, stringify({ rule_files: ['node.yaml'], tests: [test] }));
    testRules([file]);
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

const seriesOf = (lines: Lines): Series =>
  Object.fromEntries(
    [lines].flat().map((line) => {
      const [, name = '', value = ''] = /^(\w+(?:\{.*\})?) (.*)$/.exec(line) ?? [];
      return [`kubelet_gitops_${name}`, `${value}x3000`];
    }),
  );

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
