import { API_VERSION } from '#shared/contract/api/group.ts';
import { DEFAULT_TRIAL } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolSpec, PoolTrialSpec } from '#shared/contract/api/kubelet-pool.ts';
import { FULL_PROBATION } from '#shared/contract/api/probation.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { isMap } from '#shared/contract/kubelet-config/written-fields.ts';
import type { TolerableCode } from '#shared/contract/kubelet-config/tolerance.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { readFieldPolicy } from './read-field-policy.ts';
import { readBlockers } from './read-blockers.ts';
import { readDisruption } from './read-disruption.ts';
import { readRollout } from './read-rollout.ts';
import { checkLength, MOST_ITEMS, readDuration, readFlag, readInteger, readWord } from './read-scalars.ts';
import { readTolerance } from './read-tolerance.ts';
import { readSelector } from './read-selector.ts';
import { checkHeader, type FileReport, readMap } from './file-report.ts';

const INT32_MAX = 2 ** 31 - 1;

/** As in deploy/crds. */
const LONGEST_LAYER = 1024;

const KEYS = [
  'nodeSelector',
  'priority',
  'layers',
  'apply',
  'rollout',
  'trial',
  'drift',
  'fields',
  'tolerate',
  'suspend',
  'disruption',
  'blockers',
] as const;

/**
 * A `pool.yaml` as a spec with every default filled in; what may be absent and is not written is absent. Where something is wrong it is in the report, and the spec is
 * not to be used.
 *
 * @param name the pool's, from its folder
 */
export function readPool(document: unknown, name: string, report: FileReport): KubeletPoolSpec {
  const root = readMap(document, [], ['apiVersion', 'kind', 'metadata', 'spec'], report) ?? {};
  checkHeader(root, { apiVersion: API_VERSION, kind: 'KubeletPool', name }, report);
  if (root.spec === undefined) report.error('missing-field', [], 'the pool has no spec');
  const spec = readMap(root.spec, ['spec'], KEYS, report) ?? {};
  const at = (key: string): Path => ['spec', key];
  const suspend = readFlag(spec.suspend, at('suspend'), report);
  const disruption = readDisruption(spec.disruption, at('disruption'), report);
  const blockers = readBlockers(spec.blockers, at('blockers'), report);
  const read: KubeletPoolSpec = {
    nodeSelector: readSelector(spec.nodeSelector, at('nodeSelector'), report),
    priority: readInteger(spec.priority, at('priority'), { min: -INT32_MAX, max: INT32_MAX, default: 0 }, report),
    layers: readLayers(spec.layers, at('layers'), name, report),
    apply: readWord(spec.apply, at('apply'), ['overlay', 'replace'], report),
    rollout: readRollout(spec.rollout, at('rollout'), report),
    trial: readTrial(spec.trial, at('trial'), report),
    drift: readWord(spec.drift, at('drift'), ['repair', 'report'], report),
    ...(suspend === undefined ? {} : { suspend }),
    ...(disruption === undefined ? {} : { disruption }),
    ...(blockers === undefined ? {} : { blockers }),
  };
  doubtShorterTrials(read, [...at('trial'), 'durationAfterCanary'], report);
  return read;
}

/** What the pool denies besides its cluster. It allows nothing: its file comes from the same hands as its config. */
export function readPoolDenials(document: unknown, report: FileReport): readonly string[] {
  const root = isMap(document) ? document : {};
  const spec = isMap(root['spec']) ? root['spec'] : {};
  const { allow, deny } = readFieldPolicy(spec['fields'], ['spec', 'fields'], report);
  if (allow.length > 0) {
    report.security(
      'pool-cannot-allow',
      ['spec', 'fields', 'allow'],
      'fields.allow of a pool allows nothing: whoever changes the pool could allow themselves anything',
      "list the fields in fields.allow of the cluster's file, in an earlier commit, or in ALLOW_FIELDS of the reconciler",
    );
  }
  return deny;
}

/** What the pool itself tolerates, to be taken together with what its cluster does. */
export function readPoolTolerance(document: unknown, report: FileReport): readonly TolerableCode[] {
  const root = isMap(document) ? document : {};
  const spec = isMap(root['spec']) ? root['spec'] : {};
  return readTolerance(spec['tolerate'], ['spec', 'tolerate'], report);
}

function readLayers(value: unknown, path: Path, name: string, report: FileReport): readonly string[] {
  if (value === undefined) return [`pools/${name}/kubelet.yaml`];
  if (!Array.isArray(value) || value.length === 0) {
    report.error(
      'wrong-type',
      path,
      'layers has to be a list of at least one file',
      'leave it out for kubelet.yaml beside it',
    );
    return [];
  }
  checkLength(value, path, MOST_ITEMS, report);
  const layers: string[] = [];
  // The others would only take time: the file is in error.
  for (const [index, written] of value.slice(0, MOST_ITEMS).entries()) {
    const at = [...path, index];
    const layer = typeof written === 'string' ? resolveLayer(written, `pools/${name}`) : undefined;
    if (layer === undefined || layer.length > LONGEST_LAYER)
      report.error('bad-path', at, `${abbreviateJson(written)} is not the path of a file in this repository`);
    else if (layers.includes(layer)) report.error('duplicate-item', at, `${layer} is among the layers already`);
    else layers.push(layer);
  }
  return layers;
}

/** Where the pool's file names a layer: those that are none are no layers of the spec, but have their places in the list. */
export function layerPath(document: unknown, name: string, layer: string): Path {
  const path: Path = ['spec', 'layers'];
  const spec = isMap(document) ? document['spec'] : undefined;
  const written = isMap(spec) ? spec['layers'] : undefined;
  if (!Array.isArray(written)) return [...path, 0];
  const isIt = (each: unknown): boolean => typeof each === 'string' && resolveLayer(each, `pools/${name}`) === layer;
  return [...path, written.findIndex(isIt)];
}

function readTrial(value: unknown, path: Path, report: FileReport): PoolTrialSpec {
  const trial = readMap(value, path, ['duration', 'durationAfterCanary', 'startTimeout', 'maxRestarts'], report) ?? {};
  const { durationAfterCanary: after } = trial;
  const { duration, startTimeout, maxRestarts } = DEFAULT_TRIAL;
  const at = (key: string): Path => [...path, key];
  return {
    duration: readDuration(trial.duration, at('duration'), { zero: 'refused', default: duration }, report),
    ...(after === undefined
      ? {}
      : {
          durationAfterCanary: readDuration(
            after,
            at('durationAfterCanary'),
            { zero: 'refused', default: duration },
            report,
          ),
        }),
    startTimeout: readDuration(
      trial.startTimeout,
      at('startTimeout'),
      { zero: 'refused', default: startTimeout },
      report,
    ),
    maxRestarts: readInteger(trial.maxRestarts, at('maxRestarts'), { min: 0, max: 1000, default: maxRestarts }, report),
  };
}

/** A trial after the canaries that is as long as theirs all the same. */
function doubtShorterTrials(
  { rollout: { probation }, trial: { duration, durationAfterCanary: after } }: KubeletPoolSpec,
  path: Path,
  report: FileReport,
): void {
  if (after === undefined) return;
  if (probation === FULL_PROBATION) {
    const message = 'durationAfterCanary shortens nothing with probation: full, where all trials take trial.duration';
    report.doubt(path, message, 'leave out one of the two');
  } else if ((parseDuration(after) ?? 0) > (parseDuration(duration) ?? 0)) {
    const message = `durationAfterCanary is ${after}, and no trial is longer than trial.duration, which is ${duration}`;
    report.doubt(path, message, 'make it shorter, or trial.duration longer');
  }
}

/**
 * The path from the root of the repository of a layer as a pool writes it: `kubelet.yaml` (no slash) is the file beside
 * `pool.yaml`, `./x.yaml` and `../x.yaml` start there too, and every other path starts at the root (`base/all.yaml`).
 *
 * @param folder the pool's, from the root
 * @returns undefined for anything but a path, and for one that leads out of the repository
 */
export function resolveLayer(written: string, folder: string): string | undefined {
  if (/(?:^|\/)\.{0,2}$/.test(written) || /[\\\p{Cc}]/u.test(written)) return undefined;
  const isBeside = !written.includes('/') || /^\.\.?\//.test(written);
  const parts: string[] = isBeside ? folder.split('/') : [];
  for (const part of written.split('/')) {
    if (part === '.') continue;
    if (part === '') return undefined;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
}
