import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import {
  type AuditReport,
  type AuditSection,
  SECTION_IDS,
  type SectionId,
  SEVERITIES,
  type Severity,
} from './audit-report.ts';
import type { FoundNodes } from './read/found-nodes.ts';
import { auditDrift } from './sections/drift.ts';
import type { UseOverDays } from './sections/room-classes.ts';
import { auditRoom } from './sections/room.ts';
import { auditSafety } from './sections/safety.ts';
import { auditSameness } from './sections/sameness.ts';
import { auditUpgrades } from './sections/upgrades.ts';

/** What was read besides the nodes. */
interface MoreFacts {
  readonly now: Millis;
  /** Sections to make; `drift` only with a repository. */
  readonly sections: readonly SectionId[];
  readonly repo?: LoadedRepo | undefined;
  readonly overDays: ReadonlyMap<string, UseOverDays>;
}

/** The report of what was found. Pure. */
export function makeReport({ source, nodes, unseen, of, strangers }: FoundNodes, more: MoreFacts): AuditReport {
  const { now, sections, repo, overDays } = more;
  const make: Readonly<Record<SectionId, () => readonly AuditSection[]>> = {
    sameness: () => [auditSameness(nodes, strangers)],
    safety: () => [auditSafety(nodes, now)],
    upgrades: () => [auditUpgrades(nodes)],
    room: () => [auditRoom(nodes, overDays)],
    drift: () => (repo === undefined ? [] : [auditDrift(nodes, repo)]),
  };
  return {
    kind: 'AuditReport',
    version: 1,
    at: toTimestamp(now),
    source,
    nodes: { seen: nodes.length, of },
    unseen,
    sections: SECTION_IDS.filter((id) => sections.includes(id)).flatMap((id) => make[id]()),
  };
}

/**
 * Whether the audit counts as failed: a check of this severity or a worse one failed, or nodes were not seen that should have been.
 *
 * @param least undefined where no check counts
 */
export function isFailed({ sections, unseen, since }: AuditReport, least: Severity | undefined): boolean {
  if (least === undefined) return false;
  const counts = ({ severity }: { readonly severity: Severity }): boolean =>
    SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least);
  // Compared with an earlier report, only new failures count.
  const failed = since?.fresh ?? sections.flatMap(({ checks }) => checks.filter(({ result }) => result === 'fail'));
  return failed.some(counts) || unseen.some(({ reason }) => reason !== 'not-ready');
}
