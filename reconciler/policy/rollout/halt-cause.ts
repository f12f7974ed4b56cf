import { identityIn } from '#shared/contract/api/config-identity.ts';
import type {
  ChangedField,
  CommitReference,
  Halt,
  HaltCause,
  KubeletPoolStatus,
} from '#shared/contract/api/kubelet-pool.ts';
import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import { diffPayloads } from '#shared/contract/kubelet-config/field-diff.ts';
import { REDACTED, redact } from '#shared/runtime/redact.ts';
import type { PayloadOf } from '../payload-reader.ts';
import { NO_PROOF, ONLY_CLASS } from '../proof/record.ts';
import { failedMembers } from './halt.ts';
import type { Group, Member } from './membership.ts';
import { isRecordOfTarget, type NodeTarget, provenConfigOf } from './node-progress.ts';

/** As many as a person takes in at a glance. */
const MOST_CHANGED = 5;
const MOST_WARNINGS = 3;
const LONGEST_VALUE = 60;
const LONGEST_WARNING = 500;

/**
 * The halt with what its payload changed, who committed it, and what the commit's own findings said of these fields. It is worked out once,
 * when the pool stops: what is committed meanwhile has no part in it. Pure.
 *
 * @param before  the status of the pool
 * @param inForce the commit in force, where it is known
 */
export function withCause(
  halt: Halt,
  group: Group,
  before: KubeletPoolStatus | undefined,
  payloadOf: PayloadOf,
  inForce?: CommitReference,
): Halt {
  if (halt.cause !== undefined) return halt;
  const { changed, ...since } = changeOf(group, before, payloadOf);
  const by = commitOf(halt, group, before, inForce);
  const warnings = (group.pool?.findings ?? []).filter((finding) => isAbout(finding, changed));
  const cause: HaltCause = {
    ...since,
    changed: changed.slice(0, MOST_CHANGED),
    ...(changed.length > MOST_CHANGED ? { more: changed.length - MOST_CHANGED } : {}),
    ...(by === undefined ? {} : { by }),
    ...(warnings.length === 0
      ? {}
      : { warnings: warnings.slice(0, MOST_WARNINGS).map((finding) => cut(formatFinding(finding), LONGEST_WARNING)) }),
  };
  return { ...halt, cause };
}

/** The commit that the payload came with. A pool that stopped under another name has had no rollout of its own. */
function commitOf(
  halt: Halt,
  { pool }: Group,
  before: KubeletPoolStatus | undefined,
  inForce: CommitReference | undefined,
): CommitReference | undefined {
  const { rollout } = before ?? {};
  if (rollout?.by !== undefined && isRecordOfTarget(rollout, identityIn(halt))) return rollout.by;
  if (pool === null || pool.commit === null) return undefined;
  return inForce?.commit === pool.commit ? inForce : { commit: pool.commit };
}

/** What the failed nodes were to change; of every class of machines among them, each change once. */
function changeOf(
  { proof = NO_PROOF, pool, members }: Group,
  before: KubeletPoolStatus | undefined,
  payloadOf: PayloadOf,
): Pick<HaltCause, 'since' | 'settledAt' | 'changed'> {
  const failed = failedMembers(members);
  const tried = failed.length > 0 ? failed : members.filter(({ target }) => target !== null);
  const byClass = new Map(tried.map((member) => [classOf(member), member]));
  const pairs = [...byClass].map(([name, { target, kubeletNode }]) => {
    const { proven = null, former = null } = proof.classes.get(name) ?? {};
    return { from: proven ?? former ?? provenConfigOf(kubeletNode), target };
  });
  const isKnown = pairs.every(({ from }) => from === null || payloadOf(from.sha256) !== null);
  if (!isKnown || pairs.length === 0) return { changed: [] };
  const all = pairs.flatMap(({ from, target }) => changesBetween(from, target, payloadOf));
  const { settled } = before ?? {};
  const isSettled =
    pool?.classes === undefined && settled !== undefined && isRecordOfTarget(settled, pairs[0]?.from ?? null);
  const since = pairs.every(({ from }) => from === null)
    ? { since: 'local' }
    : isSettled
      ? { since: settled.configName, settledAt: settled.at }
      : { since: 'what its nodes had proven' };
  return { ...since, changed: [...new Map(all.map((change) => [JSON.stringify(change), change])).values()] };
}

const classOf = ({ payloadClass }: Member): string => payloadClass?.name ?? ONLY_CLASS;

function changesBetween(from: NodeTarget, to: NodeTarget, payloadOf: PayloadOf): readonly ChangedField[] {
  const ways = [from?.apply ?? 'overlay', to?.apply ?? 'overlay'] as const;
  const way = ways[0] === ways[1] ? [] : [{ field: 'apply', before: ways[0], after: ways[1] }];
  const fields = diffPayloads(payloadOf(from?.sha256), payloadOf(to?.sha256)).map(
    ({ path, before, after, default: usual }): ChangedField => ({
      field: path.slice(0, LONGEST_FIELD),
      before: shown(path, before, usual),
      after: shown(path, after, usual),
    }),
  );
  return [...way, ...fields];
}

const LONGEST_FIELD = 200;

/** What is not written is what the node's own config says, in an overlay; otherwise the default. */
function shown(path: string, value: string | undefined, usual: string | undefined): string {
  if (value === undefined) return usual === undefined ? 'not set' : `not set (default ${usual})`;
  // Headers for static pods have no other use than credentials.
  return path.startsWith('staticPodURLHeader') ? REDACTED : cut(redact(value), LONGEST_VALUE);
}

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;

/** A finding names a field, a map that it is in, or a key in it. */
const isAbout = ({ field }: Finding, changed: readonly ChangedField[]): boolean =>
  field !== undefined && changed.some((each) => isSameOrIn(each.field, field) || isSameOrIn(field, each.field));

const isSameOrIn = (path: string, other: string): boolean =>
  path === other || path.startsWith(`${other}.`) || path.startsWith(`${other}[`);
