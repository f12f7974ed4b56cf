import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';

interface Words {
  readonly enum: readonly string[];
}

/** The published schema, as far as tests look into it. */
export const NOTE_JSON_SCHEMA = JSON.parse(readFileSync('schemas/note.v1.json', 'utf8')) as {
  readonly properties: {
    readonly outcome: Words;
    readonly pools: { readonly items: { readonly properties: { readonly origin: Words; readonly phase: Words } } };
  };
};

/** Fields may be added within a version, but none of ours may be missing from the schema: here it is closed. */
const closed: unknown = JSON.parse(JSON.stringify(NOTE_JSON_SCHEMA), (_, value: unknown) =>
  typeof value === 'object' && value !== null && 'required' in value
    ? { ...value, additionalProperties: false }
    : value,
);

const validate = new Ajv({
  allErrors: true,
  allowUnionTypes: true,
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/ },
}).compile(closed as object);

/** What is beside a note for programs. */
export const jsonOf = (data: string): Readonly<Record<string, unknown>> =>
  JSON.parse(data) as Readonly<Record<string, unknown>>;

/** What is wrong with the JSON beside a note by its schema; none where it is right. */
export function noteProblems(data: string): readonly string[] {
  if (validate(jsonOf(data))) return [];
  return (validate.errors ?? []).map(({ instancePath, message = '' }) => `${instancePath} ${message}`);
}
