import type { DisruptionClass, DisruptionSpec, KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import type { TolerableCode } from '#shared/contract/kubelet-config/tolerance.ts';
import { abbreviateJson } from '#shared/contract/kubelet-config/decode/abbreviate-json.ts';
import { checkPool } from './check-pool.ts';
import { checkName, type FileReport } from './file-report.ts';
import * as poolFile from './pool-file.generated.js';
import { readBySchema } from './read-by-schema.ts';
import { isMap } from '#shared/runtime/maps.ts';

/** A `pool.yaml`. */
export interface ReadPool {
  /** With every default filled in, and the layers by their paths in the repository; not to be used where something is wrong. */
  readonly spec: KubeletPoolSpec;
  /** Where each of its layers is named. */
  readonly layerPlaces: readonly Path[];
  /** What it denies besides its cluster. It allows nothing: its file comes from the same hands as its config. */
  readonly deny: readonly string[];
  /** What it tolerates, to be taken together with what its cluster does. */
  readonly tolerate: readonly TolerableCode[];
}

const LAYERS: Path = ['spec', 'layers'];
/** As in the schema. */
const LONGEST_LAYER = 1024;

/**
 * A `pool.yaml`. Where something is wrong it is in the report.
 *
 * @param name the pool's, from its folder
 */
export function readPool(document: unknown, name: string, report: FileReport): ReadPool {
  const { value, isRight } = readBySchema<poolFile.PoolFile>(poolFile, document, report);
  checkName(value, name, report);
  const { fields, tolerate, ...spec } = value.spec;
  checkPool(spec, isRight, report);
  if (fields.allow.length > 0) {
    report.security(
      'pool-cannot-allow',
      ['spec', 'fields', 'allow'],
      'fields.allow of a pool allows nothing: whoever changes the pool could allow themselves anything',
      "list the fields in fields.allow of the cluster's file, in an earlier commit, or in ALLOW_FIELDS of the reconciler",
    );
  }
  const layers = new Map<string, Path>();
  for (const [written, at] of writtenLayers(document, spec.layers)) {
    if (!isRight(at)) continue;
    const layer = resolveLayer(written, `pools/${name}`);
    if (layer === undefined || layer.length > LONGEST_LAYER)
      report.error('bad-path', at, `${abbreviateJson(written)} is not the path of a file in this repository`);
    else if (layers.has(layer)) report.error('duplicate-item', at, `${layer} is among the layers already`);
    else layers.set(layer, at);
  }
  return {
    spec: {
      ...spec,
      layers: [...layers.keys()],
      ...(spec.disruption === undefined ? {} : { disruption: byCost(spec.disruption) }),
    },
    layerPlaces: [...layers.values()],
    deny: [...new Set(fields.deny)],
    tolerate: [...new Set(tolerate)],
  };
}

const CLASSES: readonly DisruptionClass[] = ['restart', 'drain', 'reboot'];

/** In the order of what they cost, whatever order they are written in. */
const byCost = (disruption: DisruptionSpec): DisruptionSpec => ({
  ...disruption,
  allow: CLASSES.filter((name) => disruption.allow.includes(name)),
});

/** Each with its place in the file, of which what is wrong is not among those that were read; none of a list that is too long. */
function writtenLayers(document: unknown, read: readonly string[]): readonly (readonly [string, Path])[] {
  const spec = isMap(document) && isMap(document['spec']) ? document['spec'] : {};
  const written = Array.isArray(spec['layers']) ? spec['layers'] : read;
  return read.length === 0 ? [] : written.map((layer, index) => [String(layer), [...LAYERS, index]]);
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
