import type { Path } from './position.ts';
import type { Field } from './fields/field.ts';
import { childrenOf, FIELDS } from './fields/fields.ts';
import { isMap } from '../../runtime/maps.ts';

/** A field of the table as a config has it. */
export interface WrittenField {
  readonly path: Path;
  /** The table's path: `reservedMemory[].limits`. */
  readonly pattern: string;
  readonly field: Field;
  /** Never undefined; null where null was written. */
  readonly value: unknown;
}

/**
 * Every known field that a config sets, parents before what is in them. Fields of structs that the config sets to
 * something else than a map, and everything that the table does not know, are left out.
 *
 * @param enter whether to go on below a field
 */
export function* writtenFields(
  config: Readonly<Record<string, unknown>>,
  enter: (written: WrittenField) => boolean = () => true,
): Generator<WrittenField> {
  yield* walkStruct(config, [], '', enter);
}

function* walkStruct(
  struct: Readonly<Record<string, unknown>>,
  path: Path,
  pattern: string,
  enter: (written: WrittenField) => boolean,
): Generator<WrittenField> {
  for (const name of childrenOf(pattern)) {
    if (!Object.hasOwn(struct, name) || struct[name] === undefined) continue;
    const below = pattern === '' ? name : `${pattern}.${name}`;
    const field = FIELDS.get(below);
    if (field === undefined) continue;
    const written = { path: [...path, name], pattern: below, field, value: struct[name] };
    yield written;
    if (!enter(written)) continue;
    if (field.kind === 'struct' && isMap(written.value)) yield* walkStruct(written.value, written.path, below, enter);
    if (field.kind !== 'struct-list' || !Array.isArray(written.value)) continue;
    for (const [index, item] of written.value.entries()) {
      if (isMap(item)) yield* walkStruct(item, [...written.path, index], `${below}[]`, enter);
    }
  }
}
