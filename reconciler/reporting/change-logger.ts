import type { KubeletPoolStatus, PoolPhase } from '#shared/contract/api/kubelet-pool.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Desired } from '../policy/desired.ts';
import type { UnreadableObject } from '../policy/fleet.ts';
import type { CommitDecision } from '../policy/commit-admission/accepted-commits.ts';

/** Log lines about what changed since the last pass; nothing is said twice. */
interface ChangeLogger {
  commit(taken: CommitDecision, subject: string): void;
  findings(desired: Desired): void;
  phases(pools: ReadonlyMap<string, KubeletPoolStatus>): void;
  conflicts(lines: readonly string[]): void;
  /** With the stack: an unreadable object is a bug of ours, or another writer changed it. */
  unreadable(subjects: readonly UnreadableObject[]): void;
  /** Something went as it was to go, and could not be put into words. */
  reportingFailed(error: unknown): void;
}

/** A folder of links, say, has one each. `validate` lists the others. */
const MOST_FINDINGS = 100;

export function createChangeLogger(log: Log): ChangeLogger {
  let inForce = '';
  let refused = '';
  let found = '';
  const phases = new Map<string, PoolPhase>();
  let conflicts: readonly string[] = [];
  let faulty: readonly string[] = [];
  const untold = new Set<string>();
  return {
    reportingFailed(error) {
      const reason = reasonOf(error);
      if (untold.has(reason)) return;
      if (untold.size >= MOST_FINDINGS) untold.clear();
      untold.add(reason);
      log.error({ err: error }, 'what came of the pass could not be told');
    },
    unreadable(subjects) {
      const subjectKeys = subjects.map(({ of, name, error }) => `${of} ${name} ${reasonOf(error)}`);
      for (const [index, { of, name, error }] of subjects.entries()) {
        if (!faulty.includes(subjectKeys[index] ?? '')) log.error({ [of]: name, err: error }, `${of} cannot be read`);
      }
      faulty = subjectKeys;
    },
    commit(taken, subject) {
      if (taken.inForce !== null && taken.inForce.oid !== inForce) {
        inForce = taken.inForce.oid;
        log.info({ commit: inForce, subject }, 'commit taken up');
      }
      const refusal = taken.refused === null ? '' : `${taken.refused.commit} ${taken.refused.reason}`;
      if (taken.refused !== null && refusal !== refused) {
        const { commit, reason, message } = taken.refused;
        log.warn({ commit, reason, because: message }, 'commit refused');
      }
      refused = refusal;
    },
    findings(desired) {
      const lines = [...desired.findings, ...[...desired.pools.values()].flatMap((pool) => pool.findings)];
      const now = `${desired.commit} ${lines.map(formatFinding).join('\n')}`;
      if (now === found) return;
      found = now;
      for (const finding of lines.slice(0, MOST_FINDINGS)) {
        log.warn(
          { commit: desired.commit, code: finding.code, finding: formatFinding(finding) },
          'finding in the commit',
        );
      }
      const left = lines.length - MOST_FINDINGS;
      if (left > 0)
        log.warn({ commit: desired.commit, left }, 'more findings in the commit, which kubelet-gitops validate lists');
    },
    conflicts(lines) {
      for (const line of lines.filter((other) => !conflicts.includes(other)))
        log.warn({ because: line }, 'node left alone');
      conflicts = lines;
    },
    phases(pools) {
      for (const pool of phases.keys()) if (!pools.has(pool)) phases.delete(pool);
      for (const [pool, { phase, commit, configName: config, message }] of pools) {
        const from = phases.get(pool);
        if (from === phase || phase === undefined) continue;
        phases.set(pool, phase);
        log[phase === 'Halted' ? 'error' : 'info'](
          { pool, commit, config, from, to: phase, message },
          'pool phase changed',
        );
      }
    },
  };
}
