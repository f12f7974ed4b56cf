import { childrenOf, existsIn, FIELDS, TYPE_FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { isMap } from '#shared/runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

/** A config without the fields that a kubelet of this minor does not know: it drops them when it reads the file. */
export function knownFields(config: Config, minor: number): Config {
  const types = TYPE_FIELDS.flatMap((name) => (Object.hasOwn(config, name) ? [[name, config[name]] as const] : []));
  return { ...Object.fromEntries(types), ...knownBelow(config, '', minor) };
}

function knownBelow(struct: Config, pattern: string, minor: number): Config {
  const kept = childrenOf(pattern).flatMap((name) => {
    const path = pattern === '' ? name : `${pattern}.${name}`;
    const field = FIELDS.get(path);
    if (field === undefined || !existsIn(field, minor) || !Object.hasOwn(struct, name)) return [];
    const value = struct[name];
    const isStruct = field.kind === 'struct' && isMap(value);
    return [[name, isStruct ? knownBelow(value, path, minor) : value] as const];
  });
  return Object.fromEntries(kept);
}
