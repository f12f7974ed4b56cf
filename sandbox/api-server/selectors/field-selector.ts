import { badRequest } from '#sandbox/api-server/status/status-refusals.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';

export interface FieldTest {
  readonly matches: (object: StoredObject) => boolean;
  /** The one name that can match, where the selector asks for one. */
  readonly name: string | undefined;
}

type Fields = Readonly<Record<string, (object: StoredObject) => string>>;

/** The fields that every resource can be selected by. */
const FIELDS: Fields = {
  'metadata.name': ({ metadata }: StoredObject) => metadata.name,
  'metadata.namespace': ({ metadata }: StoredObject) => metadata.namespace ?? '',
};

/**
 * Reads `metadata.name=a,metadata.namespace!=b`.
 *
 * @param selectable fields that this resource has besides
 * @throws Refusal 400 for another field or another form
 */
export function parseFieldSelector(text: string, selectable: Fields = {}): FieldTest {
  const terms = text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => parseTerm(part, { ...selectable, ...FIELDS }));
  return {
    matches: (object) => terms.every(({ valueIn, value, equal }) => (valueIn(object) === value) === equal),
    name: terms.find(({ field, equal }) => field === 'metadata.name' && equal)?.value,
  };
}

interface Term {
  readonly field: string;
  readonly valueIn: (object: StoredObject) => string;
  readonly value: string;
  readonly equal: boolean;
}

function parseTerm(text: string, fields: Fields): Term {
  const match = /^([^=!]+)(==?|!=)(.*)$/.exec(text);
  if (match === null) {
    throw badRequest(`invalid field selector: "${text}"; can't understand '${text}'`);
  }
  const [, field = '', operator, value = ''] = match;
  const valueIn = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (valueIn === undefined) throw badRequest(`field label not supported: ${field}`);
  return { field, valueIn, value, equal: operator !== '!=' };
}
