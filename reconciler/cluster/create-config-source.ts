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
import { isOtherNameOf } from '#shared/contract/config-map-hash.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Step } from '../policy/steps.ts';
import { MOST_FALLBACK_NAMES, type FallbackNames } from './fallback-names.ts';
import { CONFIG_SOURCE_SELECTOR } from './object-views.ts';

type CreateStep = Extract<Step, { readonly step: 'create-config-source' }>;

interface ConfigMap extends KubeObject {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * Makes the ConfigMap that carries a payload. One of the name that is there already is ours, and the watch has yet to show it.
 * But another writer of ConfigMaps may have taken the name first, which follows from the commit: an object without our labels is
 * never shown, one with other bytes, or one that a finalizer holds, is never right. Another program may need it, so that nothing is done to
 * it, and the payload gets another name.
 *
 * @throws KubeError
 * @throws GitopsError CONFIG_SOURCE_TAKEN after so many other names for the payload that one more would not help
 */
export async function createConfigSource(ports: CreatePorts, step: CreateStep, signal: AbortSignal): Promise<void> {
  const { kube, namespace, log } = ports;
  const place = { resource: CONFIG_MAPS, namespace };
  const { config, pool } = step;
  try {
    await kube.create(place, configMapOf(step, namespace), signal);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_ALREADY_EXISTS')) throw error;
    // By list, because the reconciler has no right to get a ConfigMap, and needs no more than it has.
    const labelSelector = CONFIG_SOURCE_SELECTOR;
    const { items } = await kube.list<ConfigMap>({ ...place, labelSelector }, signal);
    if (items.some((found) => carries(found, step))) return;
    const fieldSelector = `metadata.name=${config.name}`;
    const { items: inTheWay } = await kube.list<ConfigMap>({ ...place, fieldSelector }, signal);
    // Gone by now: the next pass makes it.
    if (inTheWay.length === 0) return;
    const name = ports.otherNames.next(config.name, pool, config.payload);
    if (name === undefined) throw taken(config.name, namespace, error);
    await kube.create(place, configMapOf({ ...step, config: { ...config, name } }, namespace), signal);
    log.warn(
      { pool, taken: config.name, config: name },
      'a ConfigMap that is not ours has the name of a config source',
    );
  }
}

export interface CreatePorts {
  readonly kube: Pick<Kube, 'create' | 'list'>;
  readonly namespace: string;
  readonly otherNames: FallbackNames;
  readonly log: Log;
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

/** Whether it is the config source that a step is to make, under its own name or another one. */
function carries({ metadata, immutable, data }: ConfigMap, { pool, config }: CreateStep): boolean {
  const { name, deletionTimestamp, labels } = metadata;
  return (
    labels?.[POOL_LABEL] === pool &&
    (name === config.name || isOtherNameOf(name, pool, config.payload)) &&
    immutable === true &&
    deletionTimestamp === undefined &&
    data?.[PAYLOAD_KEY] === config.payload
  );
}

function taken(name: string, namespace: string, cause: unknown): GitopsError<'CONFIG_SOURCE_TAKEN'> {
  const message =
    `the ConfigMap ${namespace}/${name} is there and is not ours, and what was made under other names was taken away ` +
    `${MOST_FALLBACK_NAMES} times, so nodes wait: delete it, and it is made again; check who may write ConfigMaps there`;
  return new GitopsError('CONFIG_SOURCE_TAKEN', message, { cause });
}
