import { isDeepStrictEqual as equal } from 'node:util';
import type { KubeletPool, KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Step } from '../steps.ts';

/** A status of a pool that this leader wrote and read back, or would write as it is. */
export interface OwnRecord {
  /** Of the KubeletPool. */
  readonly uid: string;
  readonly status: KubeletPoolStatus;
}

/** What this leader knows of pools by itself, whatever somebody else writes into them meanwhile. */
export interface OwnRecords {
  /** By pool. */
  all(): ReadonlyMap<string, OwnRecord>;
  /** Hears of the object that the API server answered a step with. */
  answered(step: Step, object: KubeObject): void;
  /** Takes over records of the leader before, where what was planned from what nodes show is the same. */
  adopt(pools: ReadonlyMap<string, KubeletPool>, planned: ReadonlyMap<string, KubeletPoolStatus>): void;
}

export function createOwnRecords(): OwnRecords {
  const known = new Map<string, OwnRecord>();
  const keep = (name: string, { metadata: { uid = '' } }: KubeObject, status: KubeletPoolStatus | undefined): void => {
    if (status !== undefined) known.set(name, { uid, status });
  };
  return {
    all: () => known,
    answered(step, object) {
      if (step.step !== 'write-pool-status') return;
      keep(step.pool.metadata.name, object, (object as KubeletPool).status);
    },
    adopt(pools, planned) {
      for (const name of known.keys()) if (!pools.has(name)) known.delete(name);
      for (const [name, pool] of pools) {
        const status = planned.get(name);
        const { uid = '' } = pool.metadata;
        if (known.get(name)?.uid === uid || status === undefined) continue;
        if (equal(memoryOf(pool.status), memoryOf(status))) keep(name, pool, pool.status);
      }
    },
  };
}

/** What a status remembers; the rest is seen again in each pass. */
const memoryOf = ({ halt, released, settled, proof, rollout }: KubeletPoolStatus = {}): unknown => ({
  halt,
  released,
  settled,
  proof,
  rollout: rollout && { ...rollout, generation: 0, maxOnTrial: 0, onTrial: 0 },
});

/** For a look at the cluster that decides nothing: whatever is written there. */
export const writtenRecords = (pools: ReadonlyMap<string, KubeletPool>): ReadonlyMap<string, OwnRecord> =>
  new Map(
    [...pools].flatMap(
      ([
        name,
        {
          metadata: { uid = '' },
          status,
        },
      ]) => (status === undefined ? [] : [[name, { uid, status }]]),
    ),
  );
