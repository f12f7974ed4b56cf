import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Everything that the reconciler counts and measures, by topic. Names are prefixed with `kubelet_gitops_`. */
export type Instruments = ReturnType<typeof createInstruments>;

const PREFIX = 'kubelet_gitops_';
/** From a small change on one node to a rollout over a weekend. */
const ROLLOUT_BUCKETS = [15, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400, 259_200];
const PASS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const CALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Registers them all, so that a scrape shows every name from the first moment on. */
export function createInstruments(registry: Registry) {
  const registers = [registry];
  const gauge = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> =>
    new Gauge({ name: PREFIX + name, help, labelNames, registers });
  const counter = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> =>
    new Counter({ name: PREFIX + name, help, labelNames, registers });
  const histogram = <L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[] = [],
  ): Histogram<L> => new Histogram({ name: PREFIX + name, help, buckets, labelNames, registers });

  return {
    buildInfo: gauge('build_info', 'Always 1; says which release runs.', ['version']),
    leader: gauge('leader', 'Whether this process is the one that acts.'),

    poolNodes: gauge('pool_nodes', 'Nodes of a pool by where they stand; each is in one state.', ['pool', 'state']),
    poolDrifted: gauge('pool_drifted_nodes', 'Nodes whose files or running config are not as assigned.', ['pool']),
    poolPhase: gauge('pool_phase', '1 for the phase that the pool is in, 0 for the others.', ['pool', 'phase']),
    poolConfigValid: gauge('pool_config_valid', 'Whether the commit in force is valid for the pool.', ['pool']),
    poolSuspended: gauge('pool_suspended', 'Whether a person suspended the pool.', ['pool']),
    poolWaitsForApproval: gauge(
      'pool_waits_for_approval_since_timestamp_seconds',
      'Since when the rollout of the pool waits for a person; absent while it does not.',
      ['pool', 'config'],
    ),
    poolInfo: gauge('pool_info', 'Always 1; says what the pool is to run and from which commit.', [
      'pool',
      'config',
      'commit',
    ]),
    poolHaltInfo: gauge('pool_halt_info', 'Always 1 for a halted pool; says what changed, and by which commit.', [
      'pool',
      'config',
      'commit',
      'author',
      'changed',
    ]),
    poolAtRisk: gauge('pool_at_risk', 'Whether nodes that were given the config of a halted pool are not well.', [
      'pool',
    ]),
    poolFailedNode: gauge(
      'pool_failed_node',
      'Always 1 for a node that took the config of its pool back, or whose kubelet runs with none (KubeletBroken).',
      ['pool', 'node', 'reason', 'commit'],
    ),
    poolBlockingNode: gauge('pool_blocking_node', 'Always 1 for an unavailable node that a pool waits for.', [
      'pool',
      'node',
    ]),
    nodesLeftAlone: gauge('nodes_left_alone', 'Nodes that nobody may touch now, by reason.', ['reason']),
    unreadable: gauge(
      'objects_unreadable',
      'Nodes, pools, config sources and notes that could not be looked at: they are left as they are.',
      ['kind'],
    ),
    fieldsLost: gauge(
      'fields_not_kept',
      'Always 1 for a field that the API server drops or changes when it is sent: its CRD is of another release.',
      ['resource', 'field'],
    ),
    nodesUnseen: gauge('nodes_unseen', 'Nodes at rest whose agent cannot see what the kubelet runs, by reason.', [
      'reason',
    ]),
    agentsSilent: gauge('agents_silent', 'Nodes whose agent has reported once and is silent now.'),

    firstNodeSeconds: histogram(
      'rollout_first_node_seconds',
      'Time from the commit to the first node of a pool that runs it.',
      ROLLOUT_BUCKETS,
      ['pool'],
    ),
    lastNodeSeconds: histogram(
      'rollout_last_node_seconds',
      'Time from the commit to the last node of a pool that proved it.',
      ROLLOUT_BUCKETS,
      ['pool'],
    ),
    fallbacks: counter('fallbacks_total', 'Nodes that took a config back, by reason.', ['pool', 'reason']),
    refusals: counter('node_refusals_total', 'Configs that an agent refused before the kubelet was touched.', [
      'pool',
      'reason',
    ]),
    promotions: counter('promotions_total', 'Nodes on which a config became the last known good one.', ['pool']),

    gitErrors: counter('git_errors_total', 'Readings of the repository that failed, by error code.', ['code']),
    gitSeconds: histogram('git_read_duration_seconds', 'How long a reading of the repository took.', CALL_BUCKETS, [
      'operation',
    ]),
    gitGoodAt: gauge('git_last_success_timestamp_seconds', 'When the repository was last read; 0 for never.'),
    commitRefused: gauge('commit_refused', 'Whether the newest commit was not let into force.'),
    commitFindings: gauge('commit_findings', 'What is wrong in the commit in force, by severity.', ['severity']),
    commitTakenUpAt: gauge('commit_timestamp_seconds', 'When the commit in force was made.'),
    followedSilentSince: gauge(
      'followed_silent_since_timestamp_seconds',
      'Since when a cluster that is followed says nothing of newer commits; absent while it does.',
      ['cluster'],
    ),
    auditFailed: gauge('audit_failed_checks', 'Checks that failed in the audit that was published last.', [
      'section',
      'severity',
    ]),
    auditedAt: gauge('audit_timestamp_seconds', 'When that audit was made; absent without one.'),
    notesWorking: gauge('notes_working', 'Whether notes can be written onto commits; absent where switched off.'),
    notifications: counter('notifications_total', 'Notifications by receiver and what became of them.', [
      'receiver',
      'outcome',
    ]),
    notificationsWaiting: gauge('notifications_waiting', 'Notifications that a receiver has not taken yet.', [
      'receiver',
    ]),
    notificationsWorking: gauge(
      'notifications_working',
      'Whether a receiver takes notifications; absent where nobody is told.',
      ['receiver'],
    ),
    statusesWorking: gauge('commit_statuses_working', 'Whether statuses can be posted; absent where switched off.'),

    expiresAt: gauge(
      'expiration_timestamp_seconds',
      'When a certificate or credential that the reconciler was given ends; 0 where nobody can tell.',
      ['purpose'],
    ),

    passSeconds: histogram('reconcile_duration_seconds', 'How long a pass took, by outcome.', PASS_BUCKETS, [
      'outcome',
    ]),
    passAt: gauge('reconcile_last_timestamp_seconds', 'When a pass was last made whole.'),
    wakeUps: counter('wakeups_total', 'Times that something may have changed; many of them make one pass.'),
    writesLeft: gauge('writes_left', 'Writes of the last pass that were refused or failed; decided again in the next.'),
    writes: counter('writes_total', 'Writes that passes decided on, by kind of step.', ['step']),
    apiRequests: counter('api_requests_total', 'Requests to the API server by verb, resource and HTTP code.', [
      'verb',
      'resource',
      'code',
    ]),
    apiSeconds: histogram('api_request_duration_seconds', 'How long a request took, watches left out.', CALL_BUCKETS, [
      'verb',
    ]),
    events: counter('events_total', 'Events by what became of them.', ['outcome']),
    nodeConditions: counter('node_condition_writes_total', 'Writes of the condition on Nodes, by outcome.', [
      'outcome',
    ]),
    pageListeners: gauge('page_listeners', 'Browsers that follow the status page now.'),
  };
}
