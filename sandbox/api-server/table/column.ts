import type { Millis } from '#shared/runtime/clock.ts';
import { memberOf, type StoredObject } from '#sandbox/api-server/stored-object.ts';
import { ageOf } from '#sandbox/api-server/table/age.ts';

export type Cell = string | number | boolean | null;

/** One column of what `kubectl get` prints; the cells are made by the server. */
export interface Column {
  /** As in `metav1.TableColumnDefinition`; a priority above 0 shows with `-o wide` only. */
  readonly definition: {
    readonly name: string;
    readonly type: string;
    readonly format: string;
    readonly description: string;
    readonly priority: number;
  };
  readonly cell: (object: StoredObject, now: Millis) => Cell;
}

interface ColumnOptions {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

export function column(name: string, cell: Column['cell'], options: ColumnOptions = {}): Column {
  const { type = 'string', format = '', description = '', priority = 0 } = options;
  return { definition: { name, type, format, description, priority }, cell };
}

export const NAME_COLUMN = column('Name', ({ metadata }) => metadata.name, {
  format: 'name',
  description: 'Name of the object.',
});

export const AGE_COLUMN = column('Age', ({ metadata }, now) => ageOf(metadata.creationTimestamp, now), {
  description: 'Time since the object was made.',
});

/** A CRD's `additionalPrinterColumns` entry. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** A step of a path: the name of a member, or which item of a list: `[?(@.type=="Ready")]`. */
type Step = string | { readonly key: string; readonly value: string };

/** @throws where the path is not of the form `.a.b[?(@.type=="c")].d`, the only one that is read here */
export function printerColumn({ name, type, jsonPath, ...options }: PrinterColumn): Column {
  const path = stepsOf(jsonPath);
  return column(name, (object, now) => cellOf(type, path.reduce<unknown>(follow, object), now), { type, ...options });
}

function stepsOf(jsonPath: string): readonly Step[] {
  if (!/^(?:\.[A-Za-z_][\w-]*|\[\?\(@\.\w+=="\w+"\)\])+$/.test(jsonPath)) {
    throw new Error(`the sandbox reads printer columns such as .status.phase, not ${jsonPath}`);
  }
  return [...jsonPath.matchAll(/\.(?<member>[\w-]+)|\[\?\(@\.(?<key>\w+)=="(?<value>\w+)"\)\]/g)].map(
    ({ groups = {} }) => {
      const { member, key = '', value = '' } = groups;
      return member ?? { key, value };
    },
  );
}

function follow(at: unknown, step: Step): unknown {
  if (typeof step === 'string') return memberOf(at, step);
  return Array.isArray(at) ? at.find((item) => memberOf(item, step.key) === step.value) : undefined;
}

function cellOf(type: string, value: unknown, now: Millis): Cell {
  if (value === undefined || value === null) return null;
  if (type === 'date') return ageOf(value, now);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return JSON.stringify(value);
}
