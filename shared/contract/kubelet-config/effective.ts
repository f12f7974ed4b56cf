import { setOwn } from './decode/json.ts';
import { defaultOf, existsIn, FIELDS } from './fields/fields.ts';
import { mergePatch } from './merge.ts';
import { foldCase } from './syntax/fold-case.ts';
import { parseGoDuration } from './syntax/go-duration.ts';
import { minorNumber, NEWEST_MINOR } from './minor.ts';
import { valueAt, viewOf } from './config-view.ts';
import { isMap } from '../../runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * The config that an overlay means on a node, as one file. It is what a kubelet from 1.32 on works with when `payload` lies in
 * its drop-in directory: the drop-in is a merge patch on the local config *with its defaults*, so that those defaults that
 * the payload would otherwise bend are written out (`mergeKubeletConfigurations`). One thing a file says that a
 * drop-in cannot: an empty `enforceNodeAllocatable` stays empty.
 *
 * @param local   the node's own config, as `decodeKubeletConfig` reads it
 * @param payload an overlay, nulls included
 * @param minor   the kubelet's version: `1.34`, `v1.34.2`
 */
export function overlayOnLocal(local: Config, payload: Config, minor: string): Config {
  const result = mergePatch(withOwnDefaults(local, payload, minor), payload) as Record<string, unknown>;
  if (touches(payload, 'evictionHard', 'mergeDefaultEvictionSettings')) {
    // Nothing brings the default thresholds back once the drop-ins are merged: what is gone then stays off.
    result['evictionHard'] ??= {};
    delete result['mergeDefaultEvictionSettings'];
  }
  return result;
}

/** A config with those of its defaults written out that a patch would bend otherwise. */
export function withOwnDefaults(local: Config, payload: Config, minor: string): Config {
  const version = Math.min(minorNumber(minor) ?? NEWEST_MINOR, NEWEST_MINOR);
  const base = { ...local };
  settleEviction(base, payload, version);
  settlePulls(base, payload, version);
  settleReportFrequency(base, payload);
  settleGated(base, payload, version);
  return base;
}

/** The default thresholds are put in, all or none, before the drop-ins are merged key by key. */
function settleEviction(base: Record<string, unknown>, payload: Config, minor: number): void {
  if (!touches(payload, 'evictionHard', 'mergeDefaultEvictionSettings')) return;
  const field = FIELDS.get('evictionHard');
  const defaults = field === undefined ? {} : defaultOf(field, minor);
  const own = base['evictionHard'] ?? undefined;
  const fillsUp = minor >= 33 && base['mergeDefaultEvictionSettings'] === true;
  if (own === undefined) base['evictionHard'] = defaults;
  else if (fillsUp && isMap(own) && isMap(defaults)) base['evictionHard'] = { ...defaults, ...own };
}

/** `serializeImagePulls` gets its default by the local `maxParallelImagePulls`, and keeps it. */
function settlePulls(base: Record<string, unknown>, payload: Config, minor: number): void {
  if (minor < 27 || !touches(payload, 'maxParallelImagePulls')) return;
  base['serializeImagePulls'] ??= !(Number(base['maxParallelImagePulls'] ?? 0) >= 2);
}

/**
 * `nodeStatusReportFrequency` follows `nodeStatusUpdateFrequency` where only that is set: before the merge by what the
 * local config sets, and afterwards, where the payload takes it back, by what has a default by then.
 */
function settleReportFrequency(base: Record<string, unknown>, payload: Config): void {
  const { nodeStatusUpdateFrequency: update, nodeStatusReportFrequency: report } = base;
  if (touches(payload, 'nodeStatusUpdateFrequency', 'nodeStatusReportFrequency')) {
    if (isNoTime(report)) base['nodeStatusReportFrequency'] = isNoTime(update) ? '5m' : update;
  }
  if (touches(payload, 'nodeStatusReportFrequency') && isNoTime(payload['nodeStatusReportFrequency'])) {
    if (isNoTime(update)) base['nodeStatusUpdateFrequency'] = '10s';
  }
}

/** Zero is unset in them: kubeadm writes `0s` for both. */
const isNoTime = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && parseGoDuration(value) === 0);

/** Defaults that a gate brings stay when the payload turns the gate off, and the kubelet then refuses them. */
function settleGated(base: Record<string, unknown>, payload: Config, minor: number): void {
  if (!touches(payload, 'featureGates')) return;
  const before = viewOf(base, minor, 'replace');
  for (const [path, field] of FIELDS) {
    if (field.gate === undefined || field.default === undefined || !existsIn(field, minor)) continue;
    if (!before.gate(field.gate) || (valueAt(base, path) ?? undefined) !== undefined) continue;
    const patch = path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), defaultOf(field, minor));
    for (const [key, value] of Object.entries(mergePatch(base, patch) as Config)) setOwn(base, key, value);
  }
}

/** Whether a patch says anything of a field, in whichever case. */
export const touches = (payload: Config, ...fields: readonly string[]): boolean =>
  Object.keys(payload).some((key) => fields.some((field) => foldCase(field) === foldCase(key)));
