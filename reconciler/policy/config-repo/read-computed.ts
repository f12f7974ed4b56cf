import { setOwn } from '#shared/contract/kubelet-config/decode/json.ts';
import { formatPath, type Path, type PositionOf } from '#shared/contract/kubelet-config/position.ts';
import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import * as boundsOfLeaf from './computed-bounds.generated.js';
import * as computedFile from './computed-file.generated.js';
import type { FileReport } from './file-report.ts';
import { readBySchema } from './read-by-schema.ts';
import { readMachineAmount } from '../templates/machine-amount.ts';
import { type LeafBounds, resourceOf } from '../templates/bounds.ts';
import { compile } from '../templates/expression.ts';
import { FUNCTIONS, METHODS, VARIABLES } from '../templates/expression-language.ts';
import { type ComputedLeaf, placeholderOfLeaf } from '../templates/leaf.ts';
import { type ExpressionTree, PROFILES } from '../templates/profiles.ts';
import { isMap, valueIn } from '#shared/runtime/maps.ts';

/** Kind of a layer whose fields are expressions. */
export const COMPUTED_KIND = 'ComputedKubeletConfiguration';

/** A computed layer, read: a layer like others, with marks in place of values. */
export interface ComputedLayer {
  readonly value: Readonly<Record<string, unknown>>;
  /** By mark. */
  readonly leaves: ReadonlyMap<string, ComputedLeaf>;
  /** Where a field of `value` was written. */
  readonly positionOf: PositionOf;
}

type Tree = Readonly<Record<string, unknown>>;

/**
 * Reads a computed layer. What is wrong is reported; of an expression, its field's place and the character in it.
 *
 * @param positionOf where a path of the file stands in it
 */
export function readComputed(file: unknown, report: FileReport, positionOf: PositionOf): ComputedLayer {
  const { value: document, isRight } = readBySchema<computedFile.ComputedFile>(computedFile, file, report);
  const { profile } = document;
  const own = treeIn(file, 'computed');
  const bounds = treeIn(file, 'bounds');
  const leaves = new Map<string, ComputedLeaf>();
  const value: Record<string, unknown> = {};
  const from: ExpressionTree = profile === undefined ? {} : PROFILES[profile].computed;
  lay(from, [], (path, text) => {
    if (!has(own, path)) put(path, String(text), ['profile'], profile);
  });
  lay(own, [], (path, text) => {
    const place = ['computed', ...path];
    if (typeof text === 'string' && isRight(place)) put(path, text, place);
  });
  unusedBounds(bounds, value, report);
  return {
    value,
    leaves,
    positionOf: (path) => positionOf(has(own, path) ? ['computed', ...path] : ['profile']),
  };

  function put(path: Path, text: string, place: Path, name?: string): void {
    const key = String(path.at(-1));
    const expression = compile(text);
    if ('message' in expression) {
      const { message, at: character } = expression;
      report.error(
        'bad-expression',
        place,
        `${formatPath(path)}: ${message}, at character ${character} of the expression`,
        meantBy(message),
      );
      return;
    }
    if (key === 'maxPods' && expression.inputs.variables.has('maxPods')) {
      report.error('bad-expression', place, 'maxPods cannot be computed from the maxPods that a node has now');
      return;
    }
    const leaf: ComputedLeaf = {
      key,
      expression,
      bounds: readBounds(valueIn(bounds, path), path, report),
      ...(name === undefined ? {} : { profile: name }),
    };
    const mark = placeholderOfLeaf(leaf);
    leaves.set(mark, leaf);
    putAt(value, path, mark);
  }
}

/** A slip of the pen in a name of the language, by what the parser says of it. */
function meantBy(message: string): string | undefined {
  const variable = /^Unknown variable: (\w+)/.exec(message)?.[1];
  const called = /^there is no function (\w+)/.exec(message)?.[1];
  const known = variable === undefined ? [...FUNCTIONS, ...METHODS] : VARIABLES;
  const meant = didYouMean(variable ?? called ?? '', known);
  if (meant !== undefined) return `did you mean ${meant}?`;
  return variable === undefined ? undefined : `known are ${VARIABLES.join(', ')}`;
}

const treeIn = (file: unknown, key: string): Tree => {
  const tree = isMap(file) ? file[key] : undefined;
  return isMap(tree) ? tree : {};
};

/** Calls for every value of a tree that is no map. */
function lay(tree: Tree, path: Path, put: (path: Path, value: unknown) => void): void {
  for (const [key, item] of Object.entries(tree)) {
    if (isMap(item)) lay(item, [...path, key], put);
    else put([...path, key], item);
  }
}

const has = (tree: Tree, path: Path): boolean => valueIn(tree, path) !== undefined;

function putAt(tree: Record<string, unknown>, path: Path, value: string): void {
  let here = tree;
  for (const step of path.slice(0, -1)) {
    const below = isMap(here[step]) ? (here[step] as Record<string, unknown>) : {};
    setOwn(here, String(step), below);
    here = below;
  }
  setOwn(here, String(path.at(-1)), value);
}

function readBounds(written: unknown, path: Path, report: FileReport): LeafBounds {
  const place: Path = ['bounds', ...path];
  if (written === undefined) return {};
  const { value, isRight } = readBySchema<boundsOfLeaf.ComputedBounds | undefined>(
    boundsOfLeaf,
    written,
    report,
    place,
  );
  const { min, max, maxShare } = value ?? {};
  if (min !== undefined && max !== undefined && isRight(place) && sizeOf(min) > sizeOf(max)) {
    report.error('out-of-range', [...place, 'min'], `min ${min} is more than max ${max}`);
  }
  if (maxShare !== undefined && resourceOf(String(path.at(-1))) === undefined) {
    const message = `${formatPath(path)} takes no resource of the machine, so it has no share of one`;
    report.error('wrong-type', [...place, 'maxShare'], message, 'use min and max');
  }
  return value ?? {};
}

const sizeOf = (bound: string | number): number => readMachineAmount(String(bound))?.size ?? 0;

/** A bound that bounds nothing is a slip: the value that was meant has none. */
function unusedBounds(bounds: Tree, value: Tree, report: FileReport): void {
  const look = (tree: Tree, path: Path): void => {
    for (const [key, item] of Object.entries(tree)) {
      const here = [...path, key];
      const computed = valueIn(value, here);
      if (isMap(computed) && isMap(item)) look(item, here);
      else if (isMap(computed) && item !== null) {
        report.error('wrong-type', ['bounds', ...here], `bounds.${formatPath(here)} has to be a map`);
      } else if (computed === undefined) {
        const message = `${formatPath(here)} is not computed here, so nothing is bounded`;
        report.error('unknown-field', ['bounds', ...here], message, 'bounds have the shape of what is computed');
      }
    }
  };
  look(bounds, []);
}
