import type { ErrorObject } from 'ajv';

/** What is said of a wrong value: code, sentence with its gaps, advice, and the key below that it is about. See scripts/generate/schema-builders.ts. */
export type Says = readonly [code: string, message: string, advice?: string, key?: string];

/** A part of a schema of ours, as far as it is read at run time: what is told of errors, and what is filled in. */
export interface SchemaNode {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly propertyNames?: SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly default?: unknown;
  /** By the keyword that is violated, and under `any`. */
  readonly 'x-says'?: Readonly<Record<string, Says>>;
  /** Where a needed key is missing. */
  readonly 'x-missing'?: Says;
  /** The words of its branches are offered to who misspells one. */
  readonly 'x-words'?: true;
  /** It is in what is read although nobody wrote it. */
  readonly 'x-filled'?: true;
  /** What more is asked of a text than its schema can say. */
  readonly 'x-format'?: string;
}

/** The code that ajv made of a schema. It leaves its errors at itself. */
export interface Judge {
  (value: unknown): boolean;
  readonly errors?: readonly ErrorObject[] | null;
}

/** A kind of file: its schema, and what judges by it. */
export interface FileSchema {
  readonly schema: SchemaNode;
  readonly judge: Judge;
}
