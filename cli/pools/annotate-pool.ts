import { BY_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { type ClaimedVerb, claimText } from '#shared/contract/claim.ts';
import { KUBELET_POOLS, type Resource } from '#shared/kube/kube.ts';
import { mergePatchLatest } from '#shared/kube/update.ts';
import { systemClock, toTimestamp } from '#shared/runtime/clock.ts';
import type { Given } from '../command.ts';
import { type Connection, connectWith } from '../connect-cluster.ts';
import type { Io } from '../io.ts';
import { wrapFor } from '../wrap.ts';
import { readActor } from './actor.ts';
import { choosePools } from './choose-pools.ts';

/** What is to become of a pool's annotation, and what is said about it. `write` is absent where nothing is to be written. */
export interface AnnotationChange {
  readonly write?: { readonly verb: ClaimedVerb; readonly annotation: string; readonly value: string | null };
  readonly say: string;
}

/** Carries a wish out on an object. @returns what was done */
type Annotate = (resource: Resource, name: string, wish: (latest: KubeObject) => AnnotationChange) => Promise<string>;

/**
 * Carries a wish out on each of the pools that were named, and says what was done.
 *
 * @returns the pools as they were before
 */
export async function annotatePools(
  given: Given,
  io: Io,
  wish: (latest: KubeletPool) => AnnotationChange,
): Promise<readonly KubeletPool[]> {
  const connection = await connectWith(given, io);
  const pools = await choosePools(given, connection.kube, io.err);
  const annotate = await annotatorFor(connection);
  const wrap = wrapFor(io.out);
  for (const { metadata } of pools)
    io.out.write(wrap(`${await annotate(KUBELET_POOLS, metadata.name, (latest) => wish(latest as KubeletPool))}\n`));
  return pools;
}

/**
 * Decides on the object as it is at the moment of the write, and again after a write in between: what is said is what
 * was done. Beside what it writes stands who did it, as far as the API server says that.
 */
export async function annotatorFor({ kube, transport }: Connection): Promise<Annotate> {
  const who = await readActor(transport);
  return async (resource, name, wish) => {
    let said = `${name}: it is gone`;
    await mergePatchLatest<KubeObject>(
      kube,
      { resource },
      name,
      (latest) => {
        const { write, say } = wish(latest);
        said = `${name}: ${say}`;
        if (write === undefined) return null;
        const { verb, annotation, value } = write;
        const at = toTimestamp(systemClock.now());
        // What was claimed of an earlier value says nothing of this one.
        const claim = who === undefined ? {} : { [BY_ANNOTATION]: claimText({ verb, at, who }, value ?? '') };
        return { metadata: { annotations: { [annotation]: value, ...claim } } };
      },
      { clock: systemClock, random: Math.random },
    );
    return said;
  };
}
