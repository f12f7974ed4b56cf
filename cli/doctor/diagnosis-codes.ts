import { runbookOf } from '#reconciler/policy/runbook.ts';

/**
 * `error`: something does not work. `warning`: it works, but not as anybody would want it to for long. `note`: worth to know, and often meant.
 */
export type DiagnosisSeverity = 'error' | 'warning' | 'note';

export interface Meaning {
  readonly severity: DiagnosisSeverity;
  /** What follows from it: sentences. */
  readonly why: string;
  /** What to do: sentences. */
  readonly remedy: string;
}

const meaning = (severity: DiagnosisSeverity, why: string, remedy: string): Meaning => ({ severity, why, remedy });

/** Every diagnosis that `kubelet-gitops doctor` can make. Codes are stable. */
export const CODES = {
  'not-readable': meaning(
    'warning',
    'This part of the installation was not checked.',
    'Run doctor with the right that the message names.',
  ),
  'crd-missing': meaning(
    'error',
    'Reconciler and agents cannot talk to each other; nodes keep what they run.',
    'Apply deploy/crds of the release that runs.',
  ),
  'crd-old': meaning(
    'error',
    'The API server silently drops fields that its CRD lacks: assignments and reports are incomplete.',
    'Apply deploy/crds of the release that runs: CRDs before programs.',
  ),
  'rights-missing': meaning(
    'error',
    'The API server refuses the program where it needs this; its log says KUBE_FORBIDDEN.',
    'Apply deploy/rbac of the release that runs. Where you grant rights yourself, add these.',
  ),
  'drain-not-granted': meaning(
    'error',
    'Changes that need a drain wait forever: the pool allows drains, and the reconciler may not drain.',
    'Add the component deploy/components/drain, or take drain out of disruption.allow.',
  ),
  'pods-not-granted': meaning(
    'error',
    'Every change waits: the pool names pods that must not run meanwhile, and the reconciler may not look for them.',
    'Add the component deploy/components/blocking-pods, or take blockers.pods out of the pool.',
  ),
  'configz-not-granted': meaning(
    'warning',
    'Kubelets before 1.33 show what they run only with nodes/proxy: agents judge by health alone, and see no drift of it.',
    'Read deploy/components/configz-before-1.33, and add it if you can accept what it grants.',
  ),
  'reconciler-missing': meaning(
    'error',
    'Nothing reads the repository. Nodes keep their configs; agents still repair and fall back.',
    'Apply deploy/, or name the namespace that it was installed in with --namespace.',
  ),
  'reconciler-stopped': meaning(
    'warning',
    'The Deployment is scaled to zero: commits are not read, and no rollout goes on.',
    'kubectl -n kubelet-gitops scale deployment/kubelet-gitops-reconciler --replicas=1, if that was not meant.',
  ),
  'pod-failing': meaning(
    'error',
    'The program does not run there.',
    'kubectl -n kubelet-gitops logs POD --previous, and kubectl describe pod POD: its last line says why.',
  ),
  'no-leader': meaning(
    'error',
    'No reconciler acts: commits are not read, and no rollout goes on. Nodes keep what they run.',
    'Look at the log of the reconciler for "lease not reached", "lead lost" and KUBE_FORBIDDEN.',
  ),
  'agents-missing': meaning(
    'error',
    'No node hears of its assignment.',
    'Apply deploy/, or name the namespace that it was installed in with --namespace.',
  ),
  'agents-updating': meaning(
    'note',
    'A release is being rolled out to the nodes, or stopped because new pods do not become ready.',
    'kubectl -n kubelet-gitops rollout status daemonset/kubelet-gitops-agent.',
  ),
  'agent-versions-differ': meaning(
    'warning',
    'Agents of different releases run; this should last no longer than an upgrade.',
    'kubectl -n kubelet-gitops rollout status daemonset/kubelet-gitops-agent. If that says all is done, delete the pods of the old release.',
  ),
  'no-commit': meaning(
    'error',
    'The repository was never read: no pool exists, and no node is changed.',
    'Look at the log of the reconciler for "repository cannot be read", and at GIT_URL, GIT_BRANCH and the credentials.',
  ),
  'git-failing': meaning(
    'error',
    'Commits are not seen. The last one stays in force: new nodes get their config, failures are judged.',
    'Look the code up in docs/operate.md, under "Commits and git".',
  ),
  'commit-refused': meaning(
    'error',
    'The newest commit is not in force. Later commits contain what is refused, and wait until that is reverted or allowed.',
    'Look the reason up in docs/operate.md, under "Commits and git".',
  ),
  'commit-findings': meaning(
    'warning',
    'What is wrong is left out: a pool with an error keeps what it had.',
    'kubelet-gitops validate in a checkout shows each with its line and how to fix it.',
  ),
  'followed-silent': meaning(
    'warning',
    'Newer commits do not come into force here until that passes. What is in force stays; what settled here before comes back at once.',
    'Run doctor in that cluster. Let a commit through by kubelet-gitops release --commit COMMIT --because TEXT if that cluster is gone.',
  ),
  'notes-off': meaning(
    'warning',
    'What becomes of commits is not written to git. Clusters that follow this one take nothing new; nothing else depends on it.',
    'Give the credential the right to push refs/notes/kubelet-gitops/*, or set NOTES=off.',
  ),
  'notes-unreadable': meaning(
    'warning',
    'What became of these commits is not written to git: their place on the notes ref cannot be read. Other notes are written. Clusters that follow this one do not take these commits.',
    'Repair the ref, as docs/notes.md says. They are tried again within ten minutes.',
  ),
  'statuses-off': meaning(
    'warning',
    'The forge does not show what becomes of commits. Nothing else depends on it.',
    'docs/commit-statuses.md has a line for every code.',
  ),
  'notifications-off': meaning(
    'warning',
    'Somebody who is to be told of halts and refusals is not. They wait for a while, and nothing else depends on it.',
    'docs/notifications.md has a line for every code.',
  ),
  'polling-slow': meaning(
    'note',
    'A push is seen at the next poll.',
    'Add the component deploy/components/webhook, or set a shorter POLL_INTERVAL.',
  ),
  'webhook-half': meaning(
    'warning',
    'The Service and the setting go together: deliveries of the forge lead to nothing.',
    'Apply the component deploy/components/webhook as a whole, or take both away.',
  ),
  'cluster-suspended': meaning(
    'warning',
    'Nothing new is started in any pool.',
    'Take suspend out of clusters/CLUSTER.yaml when the reason is gone. A damaged record counts as suspended until git is read.',
  ),
  'pool-suspended': meaning(
    'warning',
    'Nothing new is started in the pool.',
    'kubelet-gitops resume POOL, or take suspend out of its pool.yaml.',
  ),
  'pool-paused': meaning(
    'note',
    'The rollout came to a pause that pool.yaml asks for. Nothing goes on before a person approves it.',
    'Look at the nodes that run the config, then kubelet-gitops approve POOL; or commit another config.',
  ),
  'pool-halted': meaning(
    'error',
    'Failures stopped the rollout. Nodes that run the config keep it, others are not changed.',
    'Fix or revert the config in git. If it is not to blame: kubelet-gitops release POOL.',
  ),
  'writes-failing': meaning(
    'error',
    'The API server answers this write of the reconciler with an error again and again: what it was to change stays as it is.',
    'The message is what the API server says: an admission policy, a quota, missing rights (KUBE_FORBIDDEN), or a fault of its own.',
  ),
  'pool-invalid': meaning(
    'error',
    'The pool keeps what it had before the commit.',
    'kubelet-gitops validate in a checkout shows each finding with its line and how to fix it.',
  ),
  'pool-empty': meaning(
    'note',
    'The pool configures nothing.',
    'Compare its nodeSelector with kubectl get nodes --show-labels.',
  ),
  'pool-blocked': meaning(
    'warning',
    'Something that the pool names as a blocker is not quiet, or cannot be asked.',
    'Fix what is reported, or correct blockers in pool.yaml.',
  ),
  'window-never-opens': meaning(
    'error',
    'Changes of the pool may never begin, within 400 days at least.',
    'Correct windows in pool.yaml or in the cluster file: allowed and denied times overlap, or a date does not exist.',
  ),
  'nodes-in-conflict': meaning(
    'error',
    'Pools of the same priority select these nodes, so they stay as they are.',
    'Give one of the pools a higher priority, or make the selectors disjoint.',
  ),
  'nodes-without-agent': meaning(
    'error',
    'Nothing is changed there, and each node uses up a place of maxUnavailable in its pool.',
    'Does the pod of the DaemonSet run there (taints, node selector, image)? Does its log say KUBE_FORBIDDEN or why it stopped?',
  ),
  'agents-silent': meaning(
    'error',
    'No report for 15 minutes: the agent does not run, or does not reach the API server.',
    'Look at the pod and at the node. If the node is gone for good, delete the Node.',
  ),
  'nodes-unmanaged': meaning(
    'note',
    'No pool selects these nodes: they run their local config.',
    'Add a pool, widen a selector, or label the node kubelet-gitops.dev/opt-out=true to say that it is meant.',
  ),
  'pool-waits-for-nodes': meaning(
    'warning',
    'No node of the pool is being changed, and maxUnavailable has no place left: unavailable nodes take them all, or it is 0.',
    'Repair or uncordon them, or delete the Nodes of machines that are gone. kubelet-gitops status --why names the reason of each.',
  ),
  'nodes-unsupported': meaning(
    'note',
    'No agent can run there, so these nodes are in no pool and take no place of maxUnavailable.',
    'Nothing: Fargate, other virtual nodes and Windows are left alone.',
  ),
  'nodes-opted-out': meaning(
    'note',
    'A label on these nodes keeps this software off.',
    'Take the label kubelet-gitops.dev/opt-out away when that is over.',
  ),
  'config-rejected': meaning(
    'error',
    'The nodes took the config back, or refused it, and do not try it again.',
    'Fix the config in git. If it is not to blame: kubelet-gitops release POOL, or commit another change.',
  ),
  'nodes-broken': meaning(
    'error',
    'The kubelet is healthy with none of its configs: the cause is elsewhere.',
    "Look at the kubelet's own log on the node.",
  ),
  'nodes-drifted': meaning(
    'warning',
    'Files or the running config are not what was assigned, and the pool only reports it or the repair did not last.',
    'Find out who writes them (another tool, a person); kubectl describe knode NODE names the files.',
  ),
  'nodes-failing': meaning(
    'error',
    'The kubelet keeps ending with a config that it had proven: something else has changed there since.',
    'Was the kubelet upgraded? See docs/upgrade.md, after a kubelet upgrade. Otherwise look at its own log on the node.',
  ),
  'nodes-unhealthy': meaning(
    'error',
    'The kubelet is down with a config that it has proven, and no change of ours is under way.',
    "Look at the kubelet's own log on the node.",
  ),
  'nodes-in-error': meaning(
    'warning',
    'The assigned config does not run, for a reason that is not blamed on it; the agent tries again.',
    'Look the reason up in docs/operate.md, under "Nodes".',
  ),
  'checkpoints-damaged': meaning(
    'warning',
    'The kubelet runs on; a change may be refused there, or cost another trial.',
    'Look at the disk that the message names: full, read-only or broken.',
  ),
  'nodes-unguarded': meaning(
    'warning',
    'Nobody takes a config back there when the agent cannot: its node keeps what it has.',
    'docs/guard.md says what the guard needs. With GUARD=off it is meant.',
  ),
  'command-line-unseen': meaning(
    'warning',
    'Preflight does not check there what depends on the flags of the kubelet: flag-shadows, config-not-read, no-reserved-cpu, memory-not-equal.',
    'Let the agent see /proc and the journal of the host below HOST_ROOT. Where the first lines of k3s have left the journal, restart it.',
  ),
  'running-config-unseen': meaning(
    'warning',
    'Agents see only whether the kubelet is healthy: a config that a flag overrides passes its trial, and drift of what runs is not found.',
    'Forbidden: grant get on nodes/configz (nodes/proxy before 1.33). Untrusted: name the serving certificate in KUBELET_SERVING_CERTS. SwitchedOff: enableServer is false.',
  ),
  'kubelet-too-new': meaning(
    'warning',
    'Its configs are judged as for the newest version that this release knows.',
    'Upgrade kubelet-gitops before more nodes.',
  ),
  'kubelet-too-old': meaning(
    'error',
    'Kubelets before 1.20 are not supported: agents refuse every config there.',
    'Upgrade the nodes, or keep them out of pools with the label kubelet-gitops.dev/opt-out=true.',
  ),
  'flags-removed': meaning(
    'note',
    'Newer kubelets do not know these flags, and a kubelet does not start with a flag that it does not know.',
    'Take them off the command line of the kubelet before its node is upgraded.',
  ),
  'records-without-node': meaning(
    'warning',
    'A KubeletNode without its Node is left over; a reconciler that leads deletes it.',
    'If no reconciler leads: kubectl delete knode NAME.',
  ),
  'clock-skew': meaning(
    'warning',
    "Its clock is more than a minute away from the API server's: agents may look silent, windows open at another time, tokens and certificates fail.",
    'Fix the time synchronisation (chrony, systemd-timesyncd) there.',
  ),
} as const satisfies Readonly<Record<string, Meaning>>;

export type Code = keyof typeof CODES;

/** Codes of what there is an alert for as well. */
export const RUNBOOKS: Readonly<Partial<Record<Code, string>>> = {
  'no-leader': runbookOf('NoLeader'),
  'git-failing': runbookOf('GitStale'),
  'commit-refused': runbookOf('CommitRefused'),
  'followed-silent': runbookOf('FollowedSilent'),
  'notes-off': runbookOf('NotesNotWritten'),
  'notifications-off': runbookOf('NotificationsNotSent'),
  'statuses-off': runbookOf('StatusesNotPosted'),
  'pool-invalid': runbookOf('PoolConfigInvalid'),
  'pool-paused': runbookOf('WaitsForApproval'),
  'pool-waits-for-nodes': runbookOf('PoolBlocked'),
  'nodes-in-conflict': runbookOf('NodesInConflict'),
  'nodes-without-agent': runbookOf('NodesWithoutAgent'),
  'agents-silent': runbookOf('AgentsSilent'),
  'config-rejected': runbookOf('NodeConfigError'),
  'nodes-broken': runbookOf('NodeBroken'),
  'nodes-drifted': runbookOf('NodeDrifted'),
  'nodes-failing': runbookOf('NodeUnhealthy'),
  'nodes-unhealthy': runbookOf('NodeUnhealthy'),
  'writes-failing': runbookOf('WritesRefused'),
  'checkpoints-damaged': runbookOf('CheckpointsDamaged'),
  'nodes-unguarded': runbookOf('NodeUnguarded'),
};
