/** A config on its way to text: leaves are pieces of flow style. */
export type Tree = Map<string, string | Tree | readonly Tree[]>;

/** Puts a value at a path of the table (`reservedMemory[].numaNode`), with a list item for everything behind `[]`. */
export function put(tree: Tree, path: string, value: string): void {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) {
    tree.set(name, value);
    return;
  }
  const isList = name.endsWith('[]');
  const key = isList ? name.slice(0, -2) : name;
  const there = tree.get(key);
  const inner = Array.isArray(there) ? (there as readonly Tree[])[0] : there;
  const below: Tree = inner instanceof Map ? inner : new Map();
  put(below, rest.join('.'), value);
  tree.set(key, isList ? [below] : below);
}

/** A line for each field of the root, and flow style below. */
export const asYaml = (tree: Tree): string =>
  [...tree].map(([key, value]) => `${plainKey(key)}: ${flow(value)}\n`).join('');

/** Everything indented, as people write it. */
export const asBlocks = (tree: Tree, indent = ''): string =>
  [...tree]
    .map(([key, value]) => {
      const start = `${indent}${plainKey(key)}:`;
      if (typeof value === 'string') return `${start} ${value}\n`;
      if (value instanceof Map) return `${start}\n${asBlocks(value, `${indent}  `)}`;
      return `${start}\n${value.map((item) => `${indent}- ${asBlocks(item, `${indent}  `).trimStart()}`).join('')}`;
    })
    .join('');

/** JSON, as far as the leaves are. */
export const asJson = (tree: Tree): string => flow(tree, JSON.stringify);

function flow(value: string | Tree | readonly Tree[], keyOf: (key: string) => string = plainKey): string {
  if (typeof value === 'string') return value;
  if (value instanceof Map)
    return `{${[...value].map(([key, item]) => `${keyOf(key)}: ${flow(item, keyOf)}`).join(', ')}}`;
  return `[${value.map((item) => flow(item, keyOf)).join(', ')}]`;
}

const plainKey = (key: string): string => (/^[A-Za-z][\w.-]*$/.test(key) ? key : JSON.stringify(key));
