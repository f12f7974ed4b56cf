/** What pages somebody, without the prefix of the alerts' names. */
type Topic =
  | 'AgentsSilent'
  | 'CheckpointsDamaged'
  | 'CommitRefused'
  | 'FollowedSilent'
  | 'GitStale'
  | 'NoLeader'
  | 'NodeBroken'
  | 'NodeConfigError'
  | 'NodeDrifted'
  | 'NodeUnguarded'
  | 'NodeUnhealthy'
  | 'NodesInConflict'
  | 'NodesWithoutAgent'
  | 'NotesNotWritten'
  | 'NotificationsNotSent'
  | 'PoolAtRisk'
  | 'PoolBlocked'
  | 'PoolConfigInvalid'
  | 'PoolHalted'
  | 'StatusesNotPosted'
  | 'WaitsForApproval'
  | 'WritesRefused';

/** The page of the alert of that name, from the root of this software's repository. */
export const runbookOf = (topic: Topic): string => `docs/runbooks/KubeletGitops${topic}.md`;
