import type { Choice } from '#reconciler/policy/pool-selection/choose-pool.ts';
import type { Commit } from '#reconciler/policy/commit-snapshot.ts';
import { joinLines } from '../one-line.ts';
import type { Paint } from '../paint.ts';
import type { Explanation } from './explain-field.ts';
import type { RevisionState } from './revision-state.ts';

export interface WholeExplanation extends Explanation {
  /** What was read: a commit, or the working copy with what is not committed of it. */
  readonly revision: string;
  readonly node: string;
  readonly kubeletVersion: string;
  readonly choice: Choice;
  /** That brought the value of the last layer. */
  readonly commit: Commit | null;
  /** False where no commit has that value yet. */
  readonly isCommitted: boolean;
  /** Why the kubelet could not be asked; null if it was asked, or there was no try. */
  readonly unseen: string | null;
  /** What the node's agent reports; null if there is none, or it was not asked. */
  readonly agent: AgentStatus | null;
  /** Whether the node runs what the revision renders. */
  readonly standing: RevisionState;
  /** Pools of the revision with errors, which might select the node as well. */
  readonly invalidPools: readonly string[];
}

export interface AgentStatus {
  readonly phase: string;
  /** Names of config sources; `local` for the node's own. */
  readonly assigned: string;
  readonly active: string;
  readonly error: string | null;
}

export function explanationAsText(whole: WholeExplanation, paint: Paint): string {
  const { field, node, kubeletVersion, layers, machine, configured, running, unseen } = whole;
  const lines = [
    paint('strong', `${field} on ${node} (kubelet ${kubeletVersion === '' ? 'of unknown version' : kubeletVersion})`),
    `  as of ${whole.revision}`,
    `  ${poolLine(whole)}`,
    ...layers.map(({ file, line, value }, index) => {
      const isLast = index === layers.length - 1;
      const text = `  ${file}${line === undefined ? '' : `:${line}`}: ${value}`;
      return isLast ? text : paint('quiet', `${text} (overridden)`);
    }),
    ...(machine === undefined ? [] : [`  which is ${configured ?? 'nothing'} for machines with ${machine}`]),
    ...(layers.length === 0 ? [] : [`  ${sinceLine(whole)}`]),
    ...sourceLines(whole),
    ...agentLines(whole),
    ...(running === undefined ? [] : [`  the kubelet runs ${running}`]),
    ...(unseen === null ? [] : [paint('quiet', `  what the kubelet runs is unknown: ${unseen}`)]),
    ...standingLines(whole).map((line) => paint('bad', `  ${line}`)),
  ];
  return `${joinLines(lines)}\n`;
}

/** Why the kubelet runs something else than the pool says; a flag is named only where nothing else explains it. */
function standingLines({ shadowed, flag, standing: { standing, because } }: WholeExplanation): readonly string[] {
  if (because !== null) {
    const word = shadowed ? 'which is not what the pool says' : 'the node does not run what the pool says';
    return [`${word}: ${WORDS[standing]}${because}`];
  }
  if (!shadowed) return [];
  const blame = `${flag === undefined ? '' : `${flag} on its command line shadows it, or `}it was not restarted since`;
  const unknown = 'whether the node was given that config is not known';
  return [`which is not what the pool says: ${standing === 'in-place' ? blame : unknown}`];
}

const WORDS: Readonly<Record<RevisionState['standing'], string>> = {
  'in-place': '',
  unknown: '',
  'not-in-force': 'not in force: ',
  'not-yet': 'not yet: ',
  'failed-here': '',
};

function sinceLine({ commit, isCommitted }: WholeExplanation): string {
  if (!isCommitted) return 'it is not committed yet';
  if (commit === null) return 'it is older than the oldest commit in this clone';
  return `since ${commit.oid.slice(0, 12)} "${commit.subject}", ${commit.author.name}, ${commit.author.at.slice(0, 10)}`;
}

function poolLine({ choice, invalidPools }: WholeExplanation): string {
  switch (choice.choice) {
    case 'pool':
      return `pool ${choice.pool}`;
    case 'none':
      return `no pool selects the node: it runs its local config${
        invalidPools.length === 0 ? '' : `, unless one that has errors does: ${invalidPools.join(', ')}`
      }`;
    case 'conflict':
      return `${choice.pools.join(' and ')} select the node with the same priority: it stays as it is`;
    case 'opted-out':
      return 'the node is opted out: it stays as it is';
    case 'unsupported':
      return `the node is in no pool: ${choice.because}`;
  }
}

function agentLines({ agent, pool }: WholeExplanation): readonly string[] {
  if (agent === null) return [];
  const { phase, assigned, active, error } = agent;
  const file = active === 'local' ? 'the config that it was provisioned with' : active;
  const lines = [
    `  the agent says: the node runs ${file}${assigned === active ? '' : `, and was assigned ${assigned}`} (${phase})`,
  ];
  if (error !== null) lines.push(`  its error: ${error}`);
  if (pool !== null && active === 'local') lines.push('  so the node does not follow the pool yet');
  return lines;
}

function sourceLines({ source, default: usual, layers, flag, running }: WholeExplanation): readonly string[] {
  const otherwise = usual === undefined ? '' : `, or else the default of this version, ${usual}`;
  const none = layers.length === 0 ? 'no layer sets it' : 'the layers reset it';
  const wins = flag === undefined ? '' : `, unless ${flag} is on its command line`;
  switch (source) {
    case 'layer':
      return [];
    case 'not-known-to-this-version':
      return ['  kubelets of this version do not know the field'];
    case 'local-or-default':
      return [`  ${none}: it is what the node's local config says${otherwise}${wins}`];
    case 'default':
      return [`  ${none}, and neither does the node's local config: ${running} is the default of this version`];
    case 'local':
      return [
        `  ${none}: the node's local config says so${flag === undefined ? '' : `, or ${flag} on its command line`}${usual === undefined ? '' : `; the default of this version is ${usual}`}`,
      ];
  }
}
