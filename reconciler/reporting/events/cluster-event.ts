/** What can happen to a node, a pool or the branch, in the words that Events carry as their reason. */
export type EventReason =
  /** Another config was assigned to the node. */
  | 'ConfigAssigned'
  /** The node may restart its kubelet with its assignment as it was. */
  | 'RestartGranted'
  /** The config proved itself on the node. */
  | 'ConfigApplied'
  /** The node took the config back. */
  | 'ConfigFellBack'
  /** On a node: the agent refused the config before the kubelet was touched. Elsewhere: the commit has errors. */
  | 'ConfigRefused'
  /** Files or running config are not what was assigned. */
  | 'ConfigDrifted'
  /** The kubelet is healthy with none of its configs. */
  | 'KubeletBroken'
  /** The kubelet is down at rest, with a config that it had proven. */
  | 'KubeletUnhealthy'
  /** Pools of the same priority select the node, so that it stays as it is. */
  | 'NodeInConflict'
  /** Failures stopped the pool. */
  | 'RolloutHalted'
  /** Failures stopped the pool, and it goes back to what it settled on before. */
  | 'RolloutReverting'
  /** All nodes of the pool run the config and have proven it. */
  | 'RolloutSettled'
  /** There is no config for a class of the pool's machines: its nodes keep what they have. */
  | 'ClassHeld'
  /** A person had nothing new started in the pool. */
  | 'Suspended'
  /** A person let the pool go on that was suspended. */
  | 'Resumed'
  /** A person let a halted pool go on. */
  | 'Released'
  /** The rollout came to a pause: a person is asked. */
  | 'WaitsForApproval'
  /** A person let the rollout go on after a pause. */
  | 'Approved'
  /** Another commit is followed. */
  | 'CommitInForce'
  /** The newest commit was not let into force. */
  | 'CommitRefused'
  /** Nodes wait because the budget is used up. */
  | 'RateLimited'
  /** Looking at the object ends in an error: nothing is decided about it. */
  | 'CannotBeRead';

export interface EventSubject {
  readonly kind: 'Node' | 'KubeletPool' | 'KubeletSource';
  readonly name: string;
  readonly uid: string;
}

/** Something that happened, to be reported once. */
export interface ClusterEvent {
  readonly about: EventSubject;
  readonly reason: EventReason;
  readonly type: 'Normal' | 'Warning';
  /** For people: one sentence, no trailing full stop. */
  readonly note: string;
  readonly pool: string;
  /** The config that it is about; '' for local. */
  readonly config: string;
  /** The agent's word for why, where there is one: `CrashLoop`. */
  readonly cause?: string;
  /** RFC 3339, where the status says when; what has no time is only reported by a process that saw the change. */
  readonly at?: string;
  /** The same text means the same occurrence, in every process and after every restart. */
  readonly identity: string;
}
