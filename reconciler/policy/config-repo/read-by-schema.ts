import type { Path } from '#shared/contract/kubelet-config/position.ts';
import type { FileReport } from './file-report.ts';
import type { FileSchema, SchemaNode } from './schema-node.ts';
import { belowOf, fillIn, tellErrors } from './tell-errors.ts';
import { TEXT_FORMATS } from './text-formats.ts';
import { isMap } from '#shared/runtime/maps.ts';

/** A file of ours, judged. */
export interface ReadFile<T> {
  /**
   * What it says, with defaults filled in, null as if it were not written, and without what is wrong: then a key that its type has may be
   * missing, but in no item of a list.
   */
  readonly value: T;
  /** Whether nothing is wrong at any of these places or below. */
  isRight(...places: readonly Path[]): boolean;
}

/**
 * Judges a file by its schema, tells what is wrong, and reads the rest.
 *
 * @param at where it stands, of a part of a file
 */
export function readBySchema<T>(
  { schema, judge }: FileSchema,
  file: unknown,
  report: FileReport,
  at: Path = [],
): ReadFile<T> {
  const wrong = new Set<string>();
  const holdsWrong = new Set<string>();
  const mark = (path: Path): void => {
    wrong.add(JSON.stringify(path));
    for (let length = 0; length <= path.length; length += 1) holdsWrong.add(JSON.stringify(path.slice(0, length)));
  };
  const isRight = (...places: readonly Path[]): boolean =>
    !places.some((place) => holdsWrong.has(JSON.stringify(place)));
  if (!judge(file)) for (const path of tellErrors(judge.errors ?? [], schema, file, report, at)) mark(path);

  const read = (node: SchemaNode, value: unknown, path: Path): unknown => {
    if (value === undefined || value === null) return usual(node, path);
    if (isMap(value) && isOf(node, 'object')) return readMap(node, value, path);
    if (wrong.has(JSON.stringify(path))) return isOf(node, 'array') ? [] : usual(node, path);
    if (!Array.isArray(value)) return readScalar(node, value, path);
    return value.flatMap((item, index): unknown[] => {
      const place = [...path, index];
      const below = read(belowOf(node, index), item, place);
      return below !== undefined && isRight(place) ? [below] : [];
    });
  };

  /** Of what is not there. */
  const usual = (node: SchemaNode, path: Path): unknown => {
    if (node['x-filled'] !== true) return undefined;
    return node.default ?? (isOf(node, 'array') ? [] : readMap(node, {}, path));
  };

  const readMap = (node: SchemaNode, map: Readonly<Record<string, unknown>>, path: Path): unknown => {
    const entries = Object.keys(node.properties ?? map).map((key) => {
      const value = Object.hasOwn(map, key) ? map[key] : undefined;
      return [key, read(belowOf(node, key), value, [...path, key])] as const;
    });
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  };

  const readScalar = (node: SchemaNode, value: unknown, path: Path): unknown => {
    const format = typeof value === 'string' ? TEXT_FORMATS[node['x-format'] ?? ''] : undefined;
    if (format === undefined) return value;
    const problem = format.problem?.(String(value));
    if (problem !== undefined) {
      mark(path);
      const [code, place, message, advice] = fillIn(problem, path, value);
      report.error(code, place, message, advice);
    }
    return format.read?.(String(value)) ?? value;
  };

  return { value: read(schema, file, at) as T, isRight };
}

const isOf = ({ type }: SchemaNode, name: string): boolean => [type].flat().includes(name);
