/** What a panel of the dashboard shows. */
export interface Panel {
  readonly title: string;
  /** For people who hover over its title. */
  readonly description: string;
  readonly kind: 'stat' | 'timeseries' | 'table';
  /** Of 24 columns. */
  readonly width: 4 | 6 | 8 | 12 | 24;
  readonly unit: 'short' | 's' | 'dtdurations' | 'reqps' | 'bytes' | 'bool_yes_no';
  readonly queries: readonly Query[];
  /** From this value on it is orange, or red: `[1, 3]`. Absent: always neutral. */
  readonly thresholds?: readonly [warn: number, bad: number];
}

export interface Query {
  readonly expr: string;
  readonly legend: string;
}

export interface Row {
  readonly title: string;
  /** Panels fill rows of 24 columns, this many units high. */
  readonly height: number;
  readonly panels: readonly Panel[];
}

const one = (expr: string, legend = ''): readonly Query[] => [{ expr, legend }];

/** The dashboard from top to bottom: what is wrong, what is under way, what it costs. `$pool` is what the reader picked. */
export const DASHBOARD_ROWS: readonly Row[] = [
  {
    title: 'Is anything wrong?',
    height: 4,
    panels: [
      {
        title: 'Pools halted',
        description: 'Failures stopped their rollouts. Runbook: KubeletGitopsPoolHalted',
        kind: 'stat',
        width: 4,
        unit: 'short',
        queries: one('sum(kubelet_gitops_pool_phase{phase="Halted"})'),
        thresholds: [1, 1],
      },
      {
        title: 'Nodes that took a config back',
        description: 'They run what they ran before',
        kind: 'stat',
        width: 4,
        unit: 'short',
        queries: one('sum(kubelet_gitops_pool_nodes{state="failed"})'),
        thresholds: [1, 3],
      },
      {
        title: 'Nodes drifted',
        description: 'A managed file or the running config is not what was assigned',
        kind: 'stat',
        width: 4,
        unit: 'short',
        queries: one('sum(kubelet_gitops_pool_drifted_nodes)'),
        thresholds: [1, 3],
      },
      {
        title: 'Agents missing',
        description: 'Silent for 15 minutes, or never heard of',
        kind: 'stat',
        width: 4,
        unit: 'short',
        queries: one('sum(kubelet_gitops_agents_silent) + sum(kubelet_gitops_pool_nodes{state="no-agent"})'),
        thresholds: [1, 3],
      },
      {
        title: 'Repository last read',
        description: 'How long ago. New commits are not seen while it cannot be read',
        kind: 'stat',
        width: 4,
        unit: 'dtdurations',
        queries: one('time() - max(kubelet_gitops_git_last_success_timestamp_seconds)'),
        thresholds: [300, 900],
      },
      {
        title: 'Newest commit refused',
        description: 'The commit before stays in force. Runbook: KubeletGitopsCommitRefused',
        kind: 'stat',
        width: 4,
        unit: 'bool_yes_no',
        queries: one('max(kubelet_gitops_commit_refused)'),
        thresholds: [1, 1],
      },
    ],
  },
  {
    title: 'Rollouts',
    height: 8,
    panels: [
      {
        title: 'Nodes by where they stand',
        description: 'Each node of a pool is in one of these',
        kind: 'timeseries',
        width: 12,
        unit: 'short',
        queries: one('sum by (state) (kubelet_gitops_pool_nodes{pool=~"$pool"})', '{{state}}'),
      },
      {
        title: 'Share of nodes that run what git says',
        description: 'And have proven it',
        kind: 'timeseries',
        width: 12,
        unit: 'short',
        queries: one(
          'sum by (pool) (kubelet_gitops_pool_nodes{pool=~"$pool", state="updated"}) / sum by (pool) (kubelet_gitops_pool_nodes{pool=~"$pool"})',
          '{{pool}}',
        ),
      },
      {
        title: 'Pools',
        description: 'What each is to run, from which commit',
        kind: 'table',
        width: 24,
        unit: 'short',
        queries: one(
          'kubelet_gitops_pool_info{pool=~"$pool"} * on (pool) group_left (phase) (kubelet_gitops_pool_phase == 1)',
        ),
      },
      {
        title: 'From commit to first and last node (median)',
        description: 'Of the rollouts of the last day',
        kind: 'timeseries',
        width: 12,
        unit: 's',
        queries: [
          {
            expr: 'histogram_quantile(0.5, sum by (le) (increase(kubelet_gitops_rollout_first_node_seconds_bucket{pool=~"$pool"}[1d])))',
            legend: 'first node',
          },
          {
            expr: 'histogram_quantile(0.5, sum by (le) (increase(kubelet_gitops_rollout_last_node_seconds_bucket{pool=~"$pool"}[1d])))',
            legend: 'last node',
          },
        ],
      },
      {
        title: 'Configs taken back, by reason',
        description: 'Over the last hour',
        kind: 'timeseries',
        width: 12,
        unit: 'short',
        queries: one(
          'sum by (pool, reason) (increase(kubelet_gitops_fallbacks_total{pool=~"$pool"}[1h]))',
          '{{pool}}: {{reason}}',
        ),
      },
    ],
  },
  {
    title: 'Nodes, as their agents see them',
    height: 8,
    panels: [
      {
        title: 'Agents by phase',
        description: 'What they are at',
        kind: 'timeseries',
        width: 12,
        unit: 'short',
        queries: one('sum by (phase) (kubelet_gitops_node_phase)', '{{phase}}'),
      },
      {
        title: 'Nodes whose assigned config does not run',
        description: 'And why',
        kind: 'table',
        width: 12,
        unit: 'short',
        queries: one('sum by (node, instance, reason) (kubelet_gitops_node_config_error_info)'),
      },
    ],
  },
  {
    title: 'The reconciler',
    height: 7,
    panels: [
      {
        title: 'Time of a pass (95 %)',
        description: 'One look at everything, and what it led to',
        kind: 'timeseries',
        width: 8,
        unit: 's',
        queries: one(
          'histogram_quantile(0.95, sum by (le, outcome) (rate(kubelet_gitops_reconcile_duration_seconds_bucket[5m])))',
          '{{outcome}}',
        ),
      },
      {
        title: 'Requests to the API server',
        description: 'By verb and answer',
        kind: 'timeseries',
        width: 8,
        unit: 'reqps',
        queries: one('sum by (verb, code) (rate(kubelet_gitops_api_requests_total[5m]))', '{{verb}} {{code}}'),
      },
      {
        title: 'Errors of git',
        description: 'By code, over the last hour',
        kind: 'timeseries',
        width: 8,
        unit: 'short',
        queries: one('sum by (code) (increase(kubelet_gitops_git_errors_total[1h]))', '{{code}}'),
      },
      {
        title: 'Time that certificates and credentials have left',
        description:
          'What ends first of each kind. Runbooks: KubeletGitopsCredentialExpires, KubeletGitopsNodeCertificateExpires',
        kind: 'timeseries',
        width: 24,
        unit: 'dtdurations',
        queries: [
          { expr: 'min by (purpose) (kubelet_gitops_expiration_timestamp_seconds) - time()', legend: '{{purpose}}' },
          {
            expr: 'min by (purpose) (kubelet_gitops_node_expiration_timestamp_seconds) - time()',
            legend: '{{purpose}}',
          },
        ],
      },
    ],
  },
];
