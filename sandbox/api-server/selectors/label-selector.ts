import { badRequest } from '#sandbox/api-server/status/status-refusals.ts';

type Labels = Readonly<Record<string, string>>;

/** Whether an object with these labels is selected. */
export type LabelTest = (labels: Labels) => boolean;

/**
 * Reads a label selector as it stands in a query, equality-based (`a=b,c!=d`) and set-based (`a in (b,c),!d`).
 *
 * @throws Refusal 400 for any other text
 */
export function parseLabelSelector(text: string): LabelTest {
  const tests = splitOutsideParentheses(text).map(parseRequirement);
  return (labels) => tests.every((test) => test(labels));
}

function splitOutsideParentheses(text: string): readonly string[] {
  const parts = text.match(/(?:[^,()]|\([^()]*\))+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

const KEY = String.raw`(?:[a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-\w.]*[A-Za-z0-9])?`;
const VALUE = String.raw`(?:[A-Za-z0-9](?:[-\w.]*[A-Za-z0-9])?)?`;
const EXISTS = new RegExp(`^(?<not>!?)\\s*(?<key>${KEY})$`);
const EQUALS = new RegExp(`^(?<key>${KEY})\\s*(?<operator>==?|!=)\\s*(?<value>${VALUE})$`);
const IN = new RegExp(`^(?<key>${KEY})\\s+(?<operator>in|notin)\\s*\\((?<values>[^()]*)\\)$`);

function parseRequirement(text: string): LabelTest {
  const exists = EXISTS.exec(text)?.groups;
  if (exists !== undefined) {
    const { key = '', not } = exists;
    return (labels) => Object.hasOwn(labels, key) === (not === '');
  }
  const groups = (EQUALS.exec(text) ?? IN.exec(text))?.groups;
  if (groups === undefined) throw badRequest(`unable to parse requirement: ${text}`);
  const { key = '', operator = '', value, values = '' } = groups;
  const wanted = value === undefined ? values.split(',').map((each) => each.trim()) : [value];
  const negative = operator === '!=' || operator === 'notin';
  return (labels) => {
    const label = Object.hasOwn(labels, key) ? labels[key] : undefined;
    // A label that is missing is not any of the values.
    return negative ? label === undefined || !wanted.includes(label) : label !== undefined && wanted.includes(label);
  };
}
