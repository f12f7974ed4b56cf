import { identityIn, sameIdentity, saysWhatStays } from '#shared/contract/api/config-identity.ts';
import {
  type ConfigSource,
  DEFAULT_DRIFT,
  DEFAULT_TRIAL,
  type KubeletNode,
  UNKNOWN_CONFIG,
} from '#shared/contract/api/kubelet-node.ts';
import type { Intent } from '../observation.ts';
import type { Config } from '../state.ts';
import { rebootFrom } from './reboot-order.ts';
import { termsFrom } from './terms.ts';

/**
 * Reads what a KubeletNode wants. What comes over the API is foreign: parts of it become paths on the node's disk.
 *
 * @param node null where there is none
 */
export function intentOf(node: KubeletNode | null): Intent {
  // Without a spec nothing was decided yet: an object that was lost and made again must not look like an order.
  if (node?.spec === undefined || node.spec === null) return { intent: 'unknown' };
  const {
    configSource: source,
    apply = 'overlay',
    trial = DEFAULT_TRIAL,
    drift = DEFAULT_DRIFT,
    allowFields = [],
    keepFields = [],
    forgive,
    tolerate = [],
    reboot,
    turn,
    pool,
    commit,
  } = node.spec;
  if (source === undefined || source === null) return { intent: 'local' };

  for (const [field, shape] of Object.entries(CONFIG_SOURCE_PATTERNS)) {
    const value: unknown = source[field as keyof ConfigSource];
    if (typeof value !== 'string' || !shape.test(value)) return invalid(`spec.configSource.${field}`, value);
  }
  if (apply !== 'overlay' && apply !== 'replace') return invalid('spec.apply', apply);
  if (drift !== 'repair' && drift !== 'report') return invalid('spec.drift', drift);
  if (!saysWhatStays(node.spec)) return invalid('spec.keepFields', undefined, DROPPED);
  for (const [field, words] of Object.entries({ allowFields, keepFields, tolerate })) {
    if (!Array.isArray(words) || !words.every((word) => typeof word === 'string'))
      return invalid(`spec.${field}`, words);
  }
  for (const [field, value] of [
    ['pool', pool],
    ['commit', commit],
  ] as const) {
    if (value !== undefined && typeof value !== 'string') return invalid(`spec.${field}`, value);
  }
  const terms = termsFrom(trial);
  if (terms === undefined) return invalid('spec.trial', trial);
  const order = reboot === undefined ? undefined : rebootFrom(reboot);
  if (order === null) return invalid('spec.reboot', reboot);

  const { namespace, name, uid, resourceVersion, key, sha256 } = source;
  const config: Config = {
    source: { namespace, name, uid, resourceVersion, key, sha256 },
    apply,
    trial: terms,
    drift,
    allowFields,
    // Over the node's own config all of it stays.
    keepFields: apply === 'replace' ? keepFields : [],
    tolerate,
    ...(order === undefined ? {} : { reboot: order }),
    ...(pool === undefined ? {} : { pool }),
    ...(commit === undefined ? {} : { commit }),
  };
  return {
    intent: 'config',
    config,
    ...(typeof forgive === 'string' ? { forgive } : {}),
    ...(typeof turn?.seen === 'string' ? { turn: turn.seen } : {}),
    ...(wasCarriedOut(node, config) ? { isSpent: true } : {}),
  };
}

/** According to the status that the agent before this one wrote for the present spec; what it did not know, it may have carried out. */
function wasCarriedOut({ metadata, status }: KubeletNode, { source, apply, keepFields }: Config): boolean {
  const { lastKnownGood: good, awaitsTurn, observedGeneration } = status ?? {};
  if (awaitsTurn?.reason === 'StateLost' && awaitsTurn.config === source.sha256) return true;
  const isPresent = observedGeneration !== undefined && observedGeneration === metadata.generation;
  if (isPresent && good?.name === UNKNOWN_CONFIG) return true;
  if (!isPresent || good?.sha256 === undefined) return false;
  const { sha256, ...way } = good;
  return sameIdentity(identityIn({ ...way, sha256 }), { sha256: source.sha256, apply, keepFields });
}

const DNS_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
/** Opaque to us, but a name of one directory: neither `..` nor with a slash. */
const PATH_PART = /^[A-Za-z0-9][-._A-Za-z0-9]{0,127}$/;

/** What each part of a config source has to look like before any of it is used. */
export const CONFIG_SOURCE_PATTERNS: Readonly<Record<keyof ConfigSource, RegExp>> = {
  namespace: DNS_NAME,
  name: DNS_NAME,
  uid: PATH_PART,
  resourceVersion: PATH_PART,
  key: /^(?!\.\.?$)[-._A-Za-z0-9]{1,128}$/,
  sha256: /^[0-9a-f]{64}$/,
};

const DROPPED = ', and apply: replace needs it: apply the CRDs of this release, an older one drops the field';

function invalid(field: string, value: unknown, why = ''): Intent {
  const is = (JSON.stringify(value) ?? 'missing').slice(0, 200);
  const message = `the assignment cannot be read: ${field} is ${is}${why}`;
  return { intent: 'invalid', failure: { reason: 'InvalidAssignment', message } };
}
