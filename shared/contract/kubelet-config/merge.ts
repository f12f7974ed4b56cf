import type { ApplyMode } from '../api/kubelet-node.ts';
import type { Finding } from '../finding.ts';
import { formatPath, type Path, type PositionOf } from './position.ts';
import { setOwn } from './decode/json.ts';
import { isMap } from '../../runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

/** A KubeletConfiguration file, read, on its way into a pool's config. */
export interface Layer {
  /** Path from the root of the repository. */
  readonly file: string;
  readonly value: Config;
  readonly positionOf: PositionOf;
}

/** Layers in one. */
export interface Composed {
  readonly value: Config;
  readonly findings: readonly Finding[];
  /** Where a value came from: the last layer that sets it. */
  readonly positionOf: PositionOf;
}

/**
 * Lays layers over each other as the kubelet does with the files of its drop-in directory: maps by key, lists and single
 * values replaced, null takes back what was set below.
 *
 * For `replace` that is all: what is null at the end is gone. For `overlay` the result goes over the node's own config,
 * so that it keeps its nulls, and means the same there as its layers would one after the other. One thing cannot be said
 * in this way: to take a whole map back and to fill it again. It is reported as an error.
 */
export function composeLayers(layers: readonly Layer[], apply: ApplyMode): Composed {
  const findings: Finding[] = [];
  let value: Config = {};
  for (const layer of layers) {
    if (apply === 'replace') {
      value = mergePatch(value, layer.value) as Config;
      continue;
    }
    const { patch, lost } = composePatches(value, layer.value);
    value = patch;
    findings.push(...lost.map((path) => nullThenMap(path, layer)));
  }
  return { value, findings, positionOf: positionAcross(layers) };
}

/** RFC 7396: what `patch` makes of `target`. Neither is changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const result: Record<string, unknown> = isMap(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else setOwn(result, key, mergePatch(Object.hasOwn(result, key) ? result[key] : undefined, value));
  }
  return result;
}

interface ComposedPatch {
  readonly patch: Config;
  /** Places where no single patch does what the two do one after the other. */
  readonly lost: readonly Path[];
}

/**
 * The merge patch that does what `first` and then `second` do: for every target and where nothing is `lost`,
 * `mergePatch(mergePatch(target, first), second)` equals `mergePatch(target, patch)`.
 */
export function composePatches(first: Config, second: Config, path: Path = []): ComposedPatch {
  const patch: Record<string, unknown> = { ...first };
  const lost: Path[] = [];
  for (const [key, value] of Object.entries(second)) {
    const before = Object.hasOwn(first, key) ? first[key] : undefined;
    if (!isMap(value) || before === undefined) {
      setOwn(patch, key, value);
    } else if (isMap(before)) {
      const inner = composePatches(before, value, [...path, key]);
      setOwn(patch, key, inner.patch);
      lost.push(...inner.lost);
    } else {
      setOwn(patch, key, value);
      lost.push([...path, key]);
    }
  }
  return { patch, lost };
}

function nullThenMap(path: Path, layer: Layer): Finding {
  const field = formatPath(path);
  return {
    code: 'null-then-map',
    severity: 'error',
    message: `a layer below takes ${field} back and this one fills it again, which an overlay cannot say to the node`,
    suggestion: 'take back single keys of it instead of the whole, or use apply: replace',
    file: layer.file,
    ...layer.positionOf(path),
    field,
  };
}

function positionAcross(layers: readonly Layer[]): PositionOf {
  const topDown = layers.toReversed();
  return (path) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const part = path.slice(0, length);
      const layer = topDown.find(({ value }) => has(value, part));
      if (layer !== undefined) return layer.positionOf(part);
    }
    return undefined;
  };
}

function has(value: unknown, path: Path): boolean {
  let here = value;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return false;
    here = (here as Readonly<Record<string | number, unknown>>)[step];
  }
  return true;
}
