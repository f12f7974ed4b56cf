export type Schema = Readonly<Record<string, unknown>>;

/** JSON with one line for each property that is not itself a map of properties: a change shows as the lines it is. */
export function schemaText(schema: Schema): string {
  return `${render(schema, '')}\n`;
}

function render(value: unknown, indent: string): string {
  if (!isBroken(value)) return JSON.stringify(value);
  const deeper = `${indent}  `;
  const lines = Object.entries(value).map(
    ([key, item]) =>
      `${deeper}${JSON.stringify(key)}: ${key === 'properties' ? properties(item, deeper) : render(item, deeper)}`,
  );
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

function properties(value: unknown, indent: string): string {
  const deeper = `${indent}  `;
  const lines = Object.entries(value as Schema).map(
    ([key, item]) => `${deeper}${JSON.stringify(key)}: ${render(item, deeper)}`,
  );
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

const isBroken = (value: unknown): value is Schema =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  JSON.stringify(value).includes('"properties"');
