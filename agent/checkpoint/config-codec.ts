import { type ConfigSource, DEFAULT_DRIFT } from '#shared/contract/api/kubelet-node.ts';
import { CONFIG_SOURCE_PATTERNS } from '../decide/assignment/intent.ts';
import type { Config, Target, TrialTerms } from '../decide/state.ts';
import { rebootFrom, rebootToOrder } from '../decide/assignment/reboot-order.ts';
import { termsFrom, termsToSpec } from '../decide/assignment/terms.ts';
import {
  amountIn,
  asRecord,
  damagedRecord,
  optionalText,
  type Raw,
  textIn,
  textsIn,
  wordIn,
} from '../host/record-shape.ts';

/** A config without where its bytes are: what identifies it, how it is tried, and what people want to know of it. */
export function encodeConfigSettings(config: Config): Raw {
  const { source, apply, trial, drift, allowFields, keepFields, tolerate, reboot, base, pool, commit } = config;
  return {
    apply,
    ...(commit === undefined ? {} : { commit }),
    ...(pool === undefined ? {} : { pool }),
    sha256: source.sha256,
    ...(allowFields.length === 0 ? {} : { allowFields }),
    ...(keepFields.length === 0 ? {} : { keepFields }),
    ...(tolerate.length === 0 ? {} : { tolerate }),
    ...(drift === DEFAULT_DRIFT ? {} : { drift }),
    ...(reboot === undefined ? {} : { reboot: rebootToOrder(reboot) }),
    ...(base === undefined ? {} : { base }),
    trial: termsToSpec(trial),
  };
}

/** @throws CHECKPOINT_DAMAGED */
export function decodeConfig(location: Raw, traits: Raw): Config {
  const trial = decodeTerms(traits['trial']);
  const pool = optionalText(traits, 'pool');
  const commit = optionalText(traits, 'commit');
  const reboot = traits['reboot'] === undefined ? undefined : rebootFrom(traits['reboot']);
  const base = traits['base'] === undefined ? undefined : textIn(traits, 'base', CONFIG_SOURCE_PATTERNS.sha256);
  if (reboot === null) throw damagedRecord('the reboot order is unreadable');
  const part = (field: keyof ConfigSource): string => textIn(location, field, CONFIG_SOURCE_PATTERNS[field]);
  return {
    source: {
      namespace: part('namespace'),
      name: part('name'),
      uid: part('uid'),
      resourceVersion: part('resourceVersion'),
      key: part('key'),
      sha256: textIn(traits, 'sha256', CONFIG_SOURCE_PATTERNS.sha256),
    },
    apply: wordIn(traits, 'apply', ['overlay', 'replace']),
    trial,
    drift: optionalText(traits, 'drift') === 'report' ? 'report' : DEFAULT_DRIFT,
    allowFields: textsIn(traits, 'allowFields'),
    keepFields: textsIn(traits, 'keepFields'),
    tolerate: textsIn(traits, 'tolerate'),
    ...(reboot === undefined ? {} : { reboot }),
    ...(base === undefined ? {} : { base }),
    ...(pool === undefined ? {} : { pool }),
    ...(commit === undefined ? {} : { commit }),
  };
}

/** One map for a config inside a file of ours; null for local. */
export function encodeTarget(target: Target): Raw | null {
  return target === null ? null : { ...target.source, ...encodeConfigSettings(target) };
}

/** @throws CHECKPOINT_DAMAGED */
export function decodeTarget(value: unknown): Target {
  if (value === null) return null;
  const raw = asRecord(value, 'config');
  return decodeConfig(raw, raw);
}

/** Reads a `TrialSpec`. @throws CHECKPOINT_DAMAGED */
export function decodeTerms(value: unknown): TrialTerms {
  const spec = asRecord(value, 'trial terms');
  const terms = termsFrom({
    duration: textIn(spec, 'duration'),
    startTimeout: textIn(spec, 'startTimeout'),
    maxRestarts: amountIn(spec, 'maxRestarts'),
  });
  if (terms === undefined) throw damagedRecord('trial terms are unreadable');
  return terms;
}
