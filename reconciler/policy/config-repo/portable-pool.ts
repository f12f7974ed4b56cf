import type { Finding } from '#shared/contract/finding.ts';
import type { Path, Position, PositionOf } from '#shared/contract/kubelet-config/position.ts';
import { compile, type Expression } from '../templates/expression.ts';
import type { ComputedLeaf } from '../templates/leaf.ts';
import { templateOf } from '../templates/template.ts';
import type { LoadedPool, ValidPool } from './loaded-repo.ts';

/** A pool without functions, as one thread hands it to another. */
export type PortablePool =
  | Exclude<LoadedPool, ValidPool>
  | (Omit<ValidPool, 'positionOf' | 'template'> & {
      readonly places: readonly Place[];
      readonly leaves?: readonly PortableLeaf[];
    });

type Place = readonly [key: string, file: string | undefined, line: number, column: number];

interface PortableLeaf extends Omit<ComputedLeaf, 'expression'> {
  readonly mark: string;
  readonly expression: Omit<Expression, 'of'>;
}

/** What is deeper, or comes later, has the place of what it is in. */
const MOST_PLACES = 1_000;

export function toPortable(pool: LoadedPool): PortablePool {
  if (pool.status === 'invalid') return pool;
  const { positionOf, template, ...rest } = pool;
  const leaves = [...(template?.leaves ?? [])].map(([mark, { expression, ...leaf }]): PortableLeaf => {
    const { text, inputs } = expression;
    return { ...leaf, mark, expression: { text, inputs } };
  });
  const places = positionOf === undefined ? [] : placesIn(pool.value, positionOf);
  return { ...rest, places, ...(template === undefined ? {} : { leaves }) };
}

/** The same pool; but for places deep inside of large values, which are those of what they are in. */
export function fromPortable(portable: PortablePool): LoadedPool {
  if (portable.status === 'invalid') return portable;
  const { places, leaves, ...rest } = portable;
  const pool = places.length === 0 ? rest : { ...rest, positionOf: positionsAt(places) };
  if (leaves === undefined) return pool;
  const computed = leaves.map(({ mark, expression, ...leaf }) => {
    return [mark, { ...leaf, expression: compiledOnDemand(expression) }] as const;
  });
  const template = templateOf(pool.value, new Map(computed), pool.spec.apply);
  return template === undefined ? pool : { ...pool, template };
}

function compiledOnDemand({ text, inputs }: Omit<Expression, 'of'>): Expression {
  let made: ReturnType<typeof compile> | undefined;
  return {
    text,
    inputs,
    of(machine) {
      made ??= compile(text);
      return 'message' in made ? { because: made.message } : made.of(machine);
    },
  };
}

/** Parents before what is in them. */
function placesIn(value: unknown, positionOf: PositionOf): readonly Place[] {
  const places: Place[] = [];
  const left: { readonly path: Path; readonly value: unknown }[] = [{ path: [], value }];
  for (const { path, value: here } of left) {
    if (places.length === MOST_PLACES) break;
    const at = positionOf(path);
    if (at !== undefined) places.push([keyOf(path), at.file, at.line, at.column]);
    if (typeof here !== 'object' || here === null) continue;
    const steps = Array.isArray(here) ? here.keys() : Object.keys(here);
    for (const step of steps) {
      if (left.length > MOST_PLACES) break;
      left.push({ path: [...path, step], value: (here as Readonly<Record<string | number, unknown>>)[step] });
    }
  }
  return places;
}

const keyOf = (path: Path): string => JSON.stringify(path);

function positionsAt(places: readonly Place[]): PositionOf {
  const known = new Map(
    places.map(([key, file, line, column]): [string, Position] => [
      key,
      { ...(file === undefined ? {} : { file }), line, column },
    ]),
  );
  return (path) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const at = known.get(keyOf(path.slice(0, length)));
      if (at !== undefined) return at;
    }
    return undefined;
  };
}

/** Characters that a pool has, about: what it costs to hand it over. */
export const sizeOf = (pool: PortablePool): number =>
  (pool.status === 'valid' ? pool.payload.length : 0) +
  pool.findings.reduce((sum, { message }: Finding) => sum + message.length, 500);
