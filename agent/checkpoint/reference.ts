import type { Target } from '../decide/state.ts';
import { decodeConfig, encodeConfigSettings } from './config-codec.ts';
import { asRecord, damagedRecord, migrateRecord, optionalText, type Raw, textIn } from '../host/record-shape.ts';
import { readReferenceYaml } from './yaml-reader.ts';
import { writeYaml } from './yaml-writer.ts';

/** A reference to a checkpoint, as `meta/assigned` and `meta/last-known-good` hold one. */
export interface Reference {
  readonly target: Target;
  /** When it became lastKnownGood, RFC 3339. */
  readonly promotedAt: string | null;
}

export const NO_REFERENCE: Reference = { target: null, promotedAt: null };

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const KIND = 'SerializedNodeConfigSource';

/** Our own part of the file. Decoders of the kind are not strict, so old tooling reads the rest. */
const OURS = 'kubeletGitops';
const VERSION = 1;

/**
 * The reference as the kubelet wrote it when it still had dynamic configuration (`SerializedNodeConfigSource` of
 * k8s.io/kubelet v1beta1, sorted keys; nothing at all for local), with what identifies the config beside it.
 */
export function encodeReference({ target, promotedAt }: Reference): string {
  if (target === null) return '';
  const { namespace, name, uid, resourceVersion, key } = target.source;
  return writeYaml({
    apiVersion: API_VERSION,
    kind: KIND,
    [OURS]: { ...encodeConfigSettings(target), ...(promotedAt === null ? {} : { promotedAt }), version: VERSION },
    source: { configMap: { kubeletConfigKey: key, name, namespace, resourceVersion, uid } },
  });
}

/** @throws CHECKPOINT_DAMAGED, CHECKPOINT_TOO_NEW */
export function decodeReference(text: string): Reference {
  if (text === '') return NO_REFERENCE;
  const raw = asRecord(readReferenceYaml(text), 'the file');
  if (raw['apiVersion'] !== API_VERSION || raw['kind'] !== KIND) throw damagedRecord(`it holds no ${KIND}`);
  const traits = migrateRecord(asRecord(raw[OURS], OURS));
  const location = locationIn(asRecord(asRecord(raw['source'], 'source')['configMap'], 'source.configMap'));
  return { target: decodeConfig(location, traits), promotedAt: optionalText(traits, 'promotedAt') ?? null };
}

function locationIn(configMap: Raw): Raw {
  return { ...configMap, key: textIn(configMap, 'kubeletConfigKey') };
}
