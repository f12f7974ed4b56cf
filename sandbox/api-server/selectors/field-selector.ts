import { badRequest } from '#sandbox/api-server/status/refusals.ts';
import type { StoredObject } from '#sandbox/api-server/stored-object.ts';

export interface FieldTest {
  readonly matches: (object: StoredObject) => boolean;
  /** The one name that can match, where the selector asks for one. */
  readonly name: string | undefined;
}

/** The fields that every resource can be selected by; a few built-in ones have more, which nobody here asks for. */
const FIELDS = {
  'metadata.name': ({ metadata }: StoredObject) => metadata.name,
  'metadata.namespace': ({ metadata }: StoredObject) => metadata.namespace ?? '',
};

/** Reads `metadata.name=a,metadata.namespace!=b`. @throws Refusal 400 for another field or another form */
export function parseFieldSelector(text: string): FieldTest {
  const terms = text
    .split(',')
    .filter((part) => part !== '')
    .map(parseTerm);
  return {
    matches: (object) => terms.every(({ field, value, equal }) => (FIELDS[field](object) === value) === equal),
    name: terms.find(({ field, equal }) => field === 'metadata.name' && equal)?.value,
  };
}

interface Term {
  readonly field: keyof typeof FIELDS;
  readonly value: string;
  readonly equal: boolean;
}

function parseTerm(text: string): Term {
  const match = /^([^=!]+)(==?|!=)(.*)$/.exec(text);
  if (match === null) {
    throw badRequest(`invalid field selector: "${text}"; can't understand '${text}'`);
  }
  const [, field = '', operator, value = ''] = match;
  if (!isField(field)) throw badRequest(`field label not supported: ${field}`);
  return { field, value, equal: operator !== '!=' };
}

const isField = (text: string): text is keyof typeof FIELDS => Object.hasOwn(FIELDS, text);
