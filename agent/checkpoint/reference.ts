import type { Target } from '../decide/state.ts';
import { decodeConfig, encodeConfigSettings } from './config-codec.ts';
import {
  asRecord,
  checkStamp,
  damagedRecord,
  optionalText,
  otherFormat,
  parseRaw,
  type Raw,
  stampOf,
  textIn,
} from '../host/record-shape.ts';

/** A reference to a checkpoint, as `meta/assigned` and `meta/last-known-good` hold one. */
export interface Reference {
  readonly target: Target;
  /** When it became lastKnownGood, RFC 3339. */
  readonly promotedAt: string | null;
}

export const NO_REFERENCE: Reference = { target: null, promotedAt: null };

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const KIND = 'SerializedNodeConfigSource';

/** Our own part of the file. Decoders of the kind are not strict, so tools that know it read the rest. */
const OURS = 'kubeletGitops';

/**
 * The reference as the kubelet wrote it when it still had dynamic configuration (`SerializedNodeConfigSource` of
 * k8s.io/kubelet v1beta1; nothing at all for local), with what identifies the config beside it. As JSON, which YAML readers read.
 */
export function encodeReference({ target, promotedAt }: Reference, node: string): string {
  if (target === null) return '';
  const { namespace, name, uid, resourceVersion, key } = target.source;
  const raw = {
    apiVersion: API_VERSION,
    kind: KIND,
    [OURS]: {
      ...stampOf(node),
      ...encodeConfigSettings(target),
      ...(promotedAt === null ? {} : { promotedAt }),
    },
    source: { configMap: { kubeletConfigKey: key, name, namespace, resourceVersion, uid } },
  };
  return `${JSON.stringify(raw, null, 2)}\n`;
}

/** @throws CHECKPOINT_DAMAGED, STATE_UNREADABLE */
export function decodeReference(text: string, node: string): Reference {
  if (text === '') return NO_REFERENCE;
  // YAML, as another version wrote it: the record is whole, and must not be rebuilt as a damaged one.
  if (text.startsWith(`apiVersion: ${API_VERSION}\nkind: ${KIND}\n`)) throw otherFormat('it is not JSON');
  const raw = parseRaw(text);
  if (raw['apiVersion'] !== API_VERSION || raw['kind'] !== KIND) throw damagedRecord(`it holds no ${KIND}`);
  const traits = checkStamp(asRecord(raw[OURS], OURS), node);
  const location = locationIn(asRecord(asRecord(raw['source'], 'source')['configMap'], 'source.configMap'));
  return { target: decodeConfig(location, traits), promotedAt: optionalText(traits, 'promotedAt') ?? null };
}

function locationIn(configMap: Raw): Raw {
  return { ...configMap, key: textIn(configMap, 'kubeletConfigKey') };
}
