/** What a panel of the dashboard shows. */
export interface Panel {
  readonly title: string;
  /** For people who hover over its title. */
  readonly description: string;
  readonly kind: 'stat' | 'timeseries' | 'table';
  /** Of 24 columns. */
  readonly width: 4 | 8 | 12 | 24;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** From this value on it is orange, or red: `[1, 3]`. Absent: always neutral. */
  readonly thresholds?: Thresholds;
}

type Unit = 'short' | 's' | 'dtdurations' | 'reqps' | 'bool_yes_no';
type Thresholds = readonly [warn: number, bad: number];
type Query = readonly [expr: string, legend: string];

export interface Row {
  readonly title: string;
  /** Panels fill rows of 24 columns, this many units high. */
  readonly height: number;
  readonly panels: readonly Panel[];
}

const stat = (
  title: string,
  description: string,
  expr: string,
  thresholds: Thresholds,
  unit: Unit = 'short',
): Panel => ({ title, description, kind: 'stat', width: 4, unit, queries: [[expr, '']], thresholds });

const graph = (
  title: string,
  description: string,
  [width, unit]: readonly [Panel['width'], Unit],
  ...queries: readonly Query[]
): Panel => ({ title, description, kind: 'timeseries', width, unit, queries });

const table = (title: string, description: string, width: Panel['width'], expr: string): Panel => ({
  title,
  description,
  kind: 'table',
  width,
  unit: 'short',
  queries: [[expr, '']],
});

const median = (metric: string): string =>
  `histogram_quantile(0.5, sum by (le) (increase(${metric}_bucket{pool=~"$pool"}[1d])))`;

/** The dashboard from top to bottom: what is wrong, what is under way, what it costs. `$pool` is what the reader picked. */
export const DASHBOARD_ROWS: readonly Row[] = [
  {
    title: 'Is anything wrong?',
    height: 4,
    panels: [
      stat(
        'Pools halted',
        'Failures stopped their rollouts. Runbook: KubeletGitopsPoolHalted',
        'sum(kubelet_gitops_pool_phase{phase="Halted"})',
        [1, 1],
      ),
      stat(
        'Nodes that took a config back',
        'They run what they ran before',
        'sum(kubelet_gitops_pool_nodes{state="failed"})',
        [1, 3],
      ),
      stat(
        'Nodes drifted',
        'A managed file or the running config is not what was assigned',
        'sum(kubelet_gitops_pool_drifted_nodes)',
        [1, 3],
      ),
      stat(
        'Agents missing',
        'Silent for 15 minutes, or never heard of',
        'sum(kubelet_gitops_agents_silent) + sum(kubelet_gitops_pool_nodes{state="no-agent"})',
        [1, 3],
      ),
      stat(
        'Repository last read',
        'How long ago. New commits are not seen while it cannot be read',
        'time() - max(kubelet_gitops_git_last_success_timestamp_seconds)',
        [300, 900],
        'dtdurations',
      ),
      stat(
        'Newest commit refused',
        'The commit before stays in force. Runbook: KubeletGitopsCommitRefused',
        'max(kubelet_gitops_commit_refused)',
        [1, 1],
        'bool_yes_no',
      ),
    ],
  },
  {
    title: 'Rollouts',
    height: 8,
    panels: [
      graph(
        'Nodes by where they stand',
        'Each node of a pool is in one of these',
        [12, 'short'],
        ['sum by (state) (kubelet_gitops_pool_nodes{pool=~"$pool"})', '{{state}}'],
      ),
      graph(
        'Share of nodes that run what git says',
        'And have proven it',
        [12, 'short'],
        [
          'sum by (pool) (kubelet_gitops_pool_nodes{pool=~"$pool", state="updated"}) / sum by (pool) (kubelet_gitops_pool_nodes{pool=~"$pool"})',
          '{{pool}}',
        ],
      ),
      table(
        'Pools',
        'What each is to run, from which commit',
        24,
        'kubelet_gitops_pool_info{pool=~"$pool"} * on (pool) group_left (phase) (kubelet_gitops_pool_phase == 1)',
      ),
      graph(
        'From commit to first and last node (median)',
        'Of the rollouts of the last day',
        [12, 's'],
        [median('kubelet_gitops_rollout_first_node_seconds'), 'first node'],
        [median('kubelet_gitops_rollout_last_node_seconds'), 'last node'],
      ),
      graph(
        'Configs taken back, by reason',
        'Over the last hour',
        [12, 'short'],
        ['sum by (pool, reason) (increase(kubelet_gitops_fallbacks_total{pool=~"$pool"}[1h]))', '{{pool}}: {{reason}}'],
      ),
    ],
  },
  {
    title: 'Nodes, as their agents see them',
    height: 8,
    panels: [
      graph(
        'Agents by phase',
        'What they are at',
        [12, 'short'],
        ['sum by (phase) (kubelet_gitops_node_phase)', '{{phase}}'],
      ),
      table(
        'Nodes whose assigned config does not run',
        'And why',
        12,
        'sum by (node, instance, reason) (kubelet_gitops_node_config_error_info)',
      ),
    ],
  },
  {
    title: 'The reconciler',
    height: 7,
    panels: [
      graph(
        'Time of a pass (95 %)',
        'One look at everything, and what it led to',
        [8, 's'],
        [
          'histogram_quantile(0.95, sum by (le, outcome) (rate(kubelet_gitops_reconcile_duration_seconds_bucket[5m])))',
          '{{outcome}}',
        ],
      ),
      graph(
        'Requests to the API server',
        'By verb and answer',
        [8, 'reqps'],
        ['sum by (verb, code) (rate(kubelet_gitops_api_requests_total[5m]))', '{{verb}} {{code}}'],
      ),
      graph(
        'Errors of git',
        'By code, over the last hour',
        [8, 'short'],
        ['sum by (code) (increase(kubelet_gitops_git_errors_total[1h]))', '{{code}}'],
      ),
      graph(
        'Time that certificates and credentials have left',
        'What ends first of each kind. Runbooks: KubeletGitopsCredentialExpires, KubeletGitopsNodeCertificateExpires',
        [24, 'dtdurations'],
        ['min by (purpose) (kubelet_gitops_expiration_timestamp_seconds) - time()', '{{purpose}}'],
        ['min by (purpose) (kubelet_gitops_node_expiration_timestamp_seconds) - time()', '{{purpose}}'],
      ),
    ],
  },
];
