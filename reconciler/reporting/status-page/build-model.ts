import type { Millis } from '#shared/runtime/clock.ts';
import { followingStanding } from '../../policy/following/describe-following.ts';
import { readFollowing } from '../../policy/following/record.ts';
import { recordedPicture } from '../recorded-picture.ts';
import type { ForgeKind } from '../forge/forges.ts';
import { readHistory } from '../notes/commit-history.ts';
import type { PassResult } from '../pass-result.ts';
import { bannersOf, noLeaderBanner } from './banners.ts';
import { commitLink } from './commit-link.ts';
import type { ClustersModel, CommitRow, WorkingModel } from './model.ts';
import { nodeRows } from './node-rows.ts';
import { poolModels } from './pool-models.ts';
import { readFindings } from '../notes/recorded-findings.ts';

/** What the page says of itself. */
export interface PageInfo {
  readonly cluster: string;
  readonly version: string;
  /** Kind of the forge, where the operator says so. */
  readonly forge: ForgeKind | undefined;
}

/**
 * The page of a round, as data. Pure.
 *
 * @param leader who leads, where this process only shows what the cluster says; null where the round is its own
 */
export function buildModel(
  round: PassResult,
  about: PageInfo,
  now: Millis,
  leader: string | null = null,
): WorkingModel {
  const { source, at } = round;
  const nodes = nodeRows(round);
  const pools = poolModels(round, nodes);
  return {
    view: 'working',
    leader,
    cluster: about.cluster,
    version: about.version,
    at,
    banners: [...noLeaderBanner(leader), ...bannersOf(round, pools, nodes, now)],
    pools,
    nodes,
    commits: commitRows(round, about.forge),
    clusters: clustersModel(source),
    git: {
      url: source.url,
      branch: source.branch,
      failingSince: source.failingSince,
      notes: source.notes,
      statuses: source.statuses,
    },
    findings: readFindings(source.findings),
  };
}

function clustersModel(source: PassResult['source']): ClustersModel | null {
  const followed = readFollowing(source.following) ?? null;
  const picture = recordedPicture(source);
  return followed === null || picture === null ? null : { says: followingStanding(followed).message, picture };
}

function commitRows({ source }: PassResult, forge: ForgeKind | undefined): readonly CommitRow[] {
  return readHistory(source.history).map((commit) => ({ ...commit, link: commitLink(source.url, commit.oid, forge) }));
}
