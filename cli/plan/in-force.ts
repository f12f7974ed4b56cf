import { readSourceState, SOURCE_STATE_NAME, type StateConfigMap } from '#reconciler/telling/report/source-state.ts';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { CONFIG_MAPS } from '#shared/kube/kube.ts';
import type { Given } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Io } from '../io.ts';
import { openRepository } from '../revision/local-repository.ts';

/**
 * The commit that a cluster's reconciler has in force, where a cluster was named. A base that was refused, or that it has
 * not read yet, is another one: then more comes into force than the difference to the base.
 *
 * @returns undefined where nobody says it: no reconciler yet, one of another cluster's name, no right to read it;
 * or where the checkout does not have that commit: it is of another repository, or shallow
 */
export async function commitInForce(given: Given, io: Io, cluster: string): Promise<string | undefined> {
  if (given.text('kubeconfig') === undefined && given.text('context') === undefined) return undefined;
  const kube = await connectTo(given, io);
  const namespace = given.text('namespace') ?? DEFAULT_NAMESPACE;
  const map = await kube.get<StateConfigMap>({ resource: CONFIG_MAPS, namespace }, SOURCE_STATE_NAME).catch(() => null);
  const state = readSourceState(map);
  if (state.commit === '' || state.cluster !== cluster) return undefined;
  const repository = await openRepository(given.text('repo') ?? '.');
  return repository.commit(state.commit).then(
    ({ oid }) => oid,
    () => undefined,
  );
}
