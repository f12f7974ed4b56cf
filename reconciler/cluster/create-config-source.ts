import {
  CANONICAL_FORM_ANNOTATION,
  COMMIT_ANNOTATION,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  PAYLOAD_KEY,
  POOL_LABEL,
} from '#shared/contract/api/group.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CANONICAL_FORM } from '#shared/contract/kubelet-config/canonical.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { CONFIG_MAPS, type Kube } from '#shared/kube/kube.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Step } from '../policy/steps.ts';

type CreateStep = Extract<Step, { readonly step: 'create-config-source' }>;

interface ConfigMap extends KubeObject {
  readonly immutable: boolean;
  readonly data: Readonly<Record<string, string>>;
}

/**
 * Makes the ConfigMap that carries a payload. One of the name that is there already is ours, and the watch has yet to show it.
 * But one without our labels is never shown: `kubectl create configmap --append-hash` gives the same name, and labels can be
 * taken off. It may be somebody's, so that nothing is done to it.
 *
 * @throws KubeError
 * @throws GitopsError CONFIG_SOURCE_TAKEN where a ConfigMap of the name is there that is not ours
 */
export async function createConfigSource(
  kube: Pick<Kube, 'create' | 'list'>,
  step: CreateStep,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const place = { resource: CONFIG_MAPS, namespace };
  const { name } = step.config;
  try {
    await kube.create(place, configMapOf(step, namespace), signal);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
    // By list, because the reconciler has no right to get a ConfigMap, and needs no more than it has.
    const { items } = await kube.list<KubeObject>({ ...place, fieldSelector: `metadata.name=${name}` }, signal);
    if (items.some((found) => found.metadata.name === name && !isOurs(found))) throw taken(name, namespace, error);
  }
}

function configMapOf({ config, pool, commit }: CreateStep, namespace: string): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: config.name,
      namespace,
      labels: { [MANAGED_BY_LABEL]: MANAGED_BY, [POOL_LABEL]: pool },
      annotations: { [COMMIT_ANNOTATION]: commit, [CANONICAL_FORM_ANNOTATION]: String(CANONICAL_FORM) },
    },
    immutable: true,
    data: { [PAYLOAD_KEY]: config.payload },
  };
}

/** As the watch of config sources selects them. */
const isOurs = ({ metadata: { labels = {} } }: KubeObject): boolean =>
  labels[MANAGED_BY_LABEL] === MANAGED_BY && labels[POOL_LABEL] !== undefined;

function taken(name: string, namespace: string, cause: unknown): GitopsError<'CONFIG_SOURCE_TAKEN'> {
  const message =
    `the ConfigMap ${namespace}/${name} is there and does not have our labels (${MANAGED_BY_LABEL}=${MANAGED_BY}, ${POOL_LABEL}), ` +
    'so that nodes wait for it: delete it, and it is made anew';
  return new GitopsError('CONFIG_SOURCE_TAKEN', message, { cause });
}
