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
  /**
   * Takes over records of the leader before, where what was planned from what nodes show is the same. Records of pools that nobody but
   * they themselves says, or that leave git, are held to nothing: none of these is taken over, nor what is written to them in this pass.
   */
  adopt(
    desired: DesiredRecords,
    pools: ReadonlyMap<string, KubeletPool>,
    planned: ReadonlyMap<string, KubeletPoolStatus>,
  ): void;
  /** Hears of the object that the API server answered a step with, after `adopt` of the same pass. */
  answered(step: Step, object: KubeObject): void;
}

/** Of what is desired: pools by name, and what only they themselves say. */
interface DesiredRecords {
  readonly unverified?: true;
  readonly pools: ReadonlyMap<string, { readonly config: object | null; readonly unverified?: true }>;
}

export function createOwnRecords(): OwnRecords {
  const known = new Map<string, OwnRecord>();
  const judged = new Set<string>();
  const keep = ({ metadata: { name, uid = '' }, status }: KubeletPool): void => {
    if (status !== undefined && judged.has(name)) known.set(name, { uid, status });
  };
  return {
    all: () => known,
    adopt(desired, pools, planned) {
      judged.clear();
      for (const [name, pool] of pools) {
        const { config, unverified = desired.unverified } = desired.pools.get(name) ?? { config: null };
        if (config !== null && unverified !== true) judged.add(name);
        if (equal(memoryOf(pool.status), memoryOf(planned.get(name)))) keep(pool);
      }
    },
    answered(step, object) {
      if (step.step === 'write-pool-status') keep(object as KubeletPool);
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
    [...pools].flatMap(([name, { metadata, status }]) =>
      status === undefined ? [] : [[name, { uid: metadata.uid ?? '', status }]],
    ),
  );
