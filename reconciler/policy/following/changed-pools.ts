import { identityText } from '#shared/contract/api/config-identity.ts';
import { MACHINE_ANNOTATION } from '#shared/contract/api/group.ts';
import { desiredConfigOf } from '../config-map-name.ts';
import type { LoadedPool, ValidPool } from '../config-repo/loaded-repo.ts';
import { createClassifier } from '../config-repo/pool-of-class.ts';
import type { Fleet, NodeView } from '../fleet.ts';
import { targetWith } from '../payload-classes.ts';
import { membersOfPools } from '../pool-members.ts';
import { ONLY_CLASS, readProof } from '../proof/record.ts';

/** A pool to whose nodes a commit gives what they neither are to run now nor have proven here. */
export interface ChangedPool {
  readonly pool: string;
  readonly configName: string;
  /** Of the payload or, where values are computed, of the template. */
  readonly sha256: string;
  /** What a person approves: that, and how it is applied, see `identityText`. */
  readonly payload: string;
  readonly classes: readonly ChangedClass[];
}

export interface ChangedClass {
  readonly name: string;
  /** The same payload, see `identityText`: in the bytes of this release and, where the cluster has it in those of another one, in these. */
  readonly payloads: readonly string[];
}

/** What a commit would change for the nodes that there are. A pool that is invalid in it keeps what it has. */
export function changedPools(pools: readonly LoadedPool[], fleet: Fleet): readonly ChangedPool[] {
  const valid = pools.filter((pool) => pool.status === 'valid');
  const { members } = membersOfPools(valid, fleet);
  const known = knownHere(fleet);
  return valid.flatMap((pool) => {
    const all = classesOf(pool, members.get(pool.name) ?? [], fleet);
    const classes = all.filter(({ name, payloads }) => !payloads.some((payload) => known.has(keyOf(name, payload))));
    const { name, configName, sha256, spec } = pool;
    const payload = identityText(targetWith(sha256, spec));
    return classes.length === 0 ? [] : [{ pool: name, configName, sha256, payload, classes }];
  });
}

const keyOf = (name: string, payload: string): string => `${payload}\n${name}`;

/** By class and payload, what nodes of this cluster are to run, and what they have proven. */
function knownHere({ pools }: Fleet): ReadonlySet<string> {
  const known = new Set<string>();
  for (const { status } of pools.values()) {
    for (const { name, current, proven } of readProof(status).values()) {
      for (const each of [current, proven]) if (each !== null) known.add(keyOf(name, identityText(each)));
    }
  }
  return known;
}

function classesOf(pool: ValidPool, members: readonly NodeView[], fleet: Fleet): readonly ChangedClass[] {
  if (members.length === 0) return [];
  if (pool.template === undefined) return [{ name: ONLY_CLASS, payloads: payloadsOf(pool, fleet) }];
  const sort = createClassifier(pool);
  const found = new Map<string, ChangedClass>();
  for (const node of members) {
    const { metadata, status } = fleet.kubeletNodes.get(node.name) ?? {};
    const machine = { ...node, numaNodes: status?.numaNodes };
    const { class: own, pool: filled } = sort(machine, metadata?.annotations?.[MACHINE_ANNOTATION]).class;
    if (filled !== undefined && !found.has(own.name))
      found.set(own.name, { name: own.name, payloads: payloadsOf(filled, fleet) });
  }
  return [...found.values()];
}

function payloadsOf(pool: ValidPool, fleet: Fleet): readonly string[] {
  const hashes = [pool.sha256, desiredConfigOf(pool, fleet.configSources).sha256];
  return [...new Set(hashes)].map((sha256) => identityText(targetWith(sha256, pool.spec)));
}
