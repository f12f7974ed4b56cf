/** An OpenAPI schema, as far as fields are asked for. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly items?: FieldSchema;
}

/** Paths of everything below `spec` and `status`, sorted: `status.rejected[].at`. */
export const fieldsOfKind = (schemas: readonly FieldSchema[]): readonly string[] =>
  [...new Set(schemas.flatMap((schema) => below(schema, '')))].sort();

function below({ properties = {}, items }: FieldSchema, path: string): readonly string[] {
  const fields = Object.entries(properties)
    .filter(([name]) => path !== '' || name === 'spec' || name === 'status')
    .flatMap(([name, schema]) => {
      const full = path === '' ? name : `${path}.${name}`;
      return [full, ...below(schema, full)];
    });
  return items === undefined ? fields : [...fields, ...below(items, `${path}[]`)];
}
