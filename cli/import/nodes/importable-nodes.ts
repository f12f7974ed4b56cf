import { neverReason } from '#reconciler/policy/participation.ts';
import { passedFlags } from '#shared/contract/distribution-flags.ts';
import { distributionOf } from '#shared/contract/distribution-of-node.ts';
import { minorName, minorNumber, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import type { NotUsed } from '../../inventory/config-file-arguments.ts';
import { type NonDefaults, nonDefaultsOf, type RunningFields } from '../non-defaults.ts';
import { isHostField } from '../host-fields.ts';
import type { Labels } from '../pools/fleet-node.ts';
import { HOSTNAME } from '../pools/known-labels.ts';

/** A node, and what its kubelet runs where that is known. */
export interface NodeReading {
  readonly name: string;
  readonly labels: Labels;
  /** `v1.34.2`; empty if unknown. */
  readonly kubeletVersion: string;
  /** Empty if unknown. */
  readonly osImage: string;
  /** What its Node says of the machine's size; absent where there is no Node. */
  readonly capacity?: Readonly<Record<string, string>>;
  readonly running: RunningFields | undefined;
}

/** A node whose config can become a pool's. */
export interface FleetMember extends NonDefaults {
  readonly name: string;
  readonly labels: Labels;
  /** 34 for 1.34; undefined if not given. */
  readonly minor: number | undefined;
  /** What its Node says of the machine's size; absent where there is no Node. */
  readonly capacity?: Readonly<Record<string, string>>;
}

export interface FoundNodes {
  /** All that were looked at. */
  readonly nodes: readonly NodeReading[];
  readonly members: readonly FleetMember[];
  /** Labels of nodes that no pool may have; undefined if there may be more nodes. */
  readonly strangers: readonly Labels[] | undefined;
  /** Nodes that were looked at and cannot be used. */
  readonly leftOut: readonly NotUsed[];
}

/**
 * What of a fleet can be imported. Pure.
 *
 * @param isWhole whether these are all nodes of the cluster
 */
export function importableNodes(nodes: readonly NodeReading[], isWhole: boolean): FoundNodes {
  const first = new Map(nodes.toReversed().map((node) => [node.name, node] as const));
  const judged = nodes.map((node) => ({
    node,
    why: first.get(node.name) === node ? whyNot(node) : 'is there twice; the first counts',
  }));
  const members = judged.flatMap(({ node, why }): readonly FleetMember[] => {
    const { name, labels, running, capacity } = node;
    const minor = minorNumber(node.kubeletVersion);
    if (why !== undefined || running === undefined) return [];
    const known = minor === undefined ? undefined : Math.min(minor, NEWEST_MINOR);
    const size = capacity === undefined ? {} : { capacity };
    const flagged = flaggedOn(node);
    const stays: typeof isHostField = (path, field) => isHostField(path, field) || flagged.includes(path);
    return [{ name, labels, minor: known, ...size, ...nonDefaultsOf(running, known ?? NEWEST_MINOR, stays) }];
  });
  const strangers = judged.flatMap(({ node, why }) =>
    why !== undefined || node.running === undefined ? [node.labels] : [],
  );
  const leftOut = judged.flatMap(({ node, why }) => (why === undefined ? [] : [{ what: node.name, why }]));
  return { nodes, members, strangers: isWhole ? strangers : undefined, leftOut };
}

/** Fields that flags of the node's distribution always set: in a pool's config they would be refused. */
function flaggedOn(node: NodeReading): readonly string[] {
  const distribution = distributionOf(node);
  const flags = distribution === undefined ? [] : passedFlags(distribution, node.kubeletVersion);
  return flags.flatMap(({ field, sometimes }) => (sometimes === undefined ? [field] : []));
}

const NODE_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

function whyNot({ name, labels, kubeletVersion, running }: NodeReading): string | undefined {
  if (!NODE_NAME.test(name)) return 'is not a valid name of a node';
  const minor = minorNumber(kubeletVersion);
  if (minor !== undefined && minor < OLDEST_MINOR)
    return `runs kubelet ${minorName(minor)}; the oldest that can be managed is ${minorName(OLDEST_MINOR)}`;
  return running === undefined ? undefined : neverReason({ labels })?.because;
}

/** Of a node of which nothing but its name is known. */
export const labelsOfName = (name: string): Labels => ({ [HOSTNAME]: name });
