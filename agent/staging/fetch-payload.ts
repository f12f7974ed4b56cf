import type { KubeObject } from '#shared/contract/api/object.ts';
import { appendHash, MOST_CONFIG_MAP_BYTES, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { CONFIG_MAPS, type Kube } from '#shared/kube/kube.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Failure } from '../decide/failure.ts';
import type { Config } from '../decide/state.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

type Fetched = { readonly payload: string } | { readonly failure: Failure };

/** Reads a config source and makes sure that it is the one that was assigned. Never throws. */
export async function fetchPayload(kube: Kube, config: Config, signal: AbortSignal): Promise<Fetched> {
  const { namespace, name } = config.source;
  const where = `ConfigMap ${namespace}/${name}`;
  try {
    const found = await kube.get<ConfigMap>({ resource: CONFIG_MAPS, namespace }, name, signal);
    if (found === null) return fail('ConfigMapNotFound', `${where} is not there (yet, or any more)`);
    return verify(config, found, where);
  } catch (error) {
    return fail('DownloadFailed', `${where} cannot be read: ${reasonOf(error)}`);
  }
}

/**
 * The content has to be the assigned one by its SHA-256, and the name has to be kubectl's hash of the content: an object
 * that was deleted and made again under the same name with other bytes is nothing that anybody reviewed.
 */
function verify({ source }: Config, { data, binaryData }: ConfigMap, where: string): Fetched {
  const payload = data?.[source.key];
  if (data === undefined || payload === undefined) return fail('PayloadMismatch', `${where} has no key ${source.key}`);
  const bytes = Buffer.byteLength(payload, 'utf8');
  if (bytes > MOST_CONFIG_MAP_BYTES)
    return fail('PayloadMismatch', `${where} has ${bytes} bytes, more than a payload may`);
  const sha256 = payloadSha256(payload);
  if (sha256 !== source.sha256) {
    return fail('PayloadMismatch', `${where} is not what was assigned: its SHA-256 is ${sha256}, not ${source.sha256}`);
  }
  const [, pool = '', hash] = /^(.*)-([^-]+)$/.exec(source.name) ?? [];
  const genuine = appendHash({ name: pool, data, ...(binaryData === undefined ? {} : { binaryData }) });
  if (hash !== genuine) return fail('PayloadMismatch', `${where} should end in ${genuine}, the hash of its content`);
  return { payload };
}

const fail = (reason: Failure['reason'], message: string): Fetched => ({ failure: { reason, message } });
