import { REDACTED, redact } from '#shared/runtime/redact.ts';

/** Names that always stand for a secret. Files and directories of such are only places. */
const SECRET_NAME =
  /(?:pass(?:word|wd|phrase)?|pwd|secret|secret[-_]?id|token|(?:api|private|access|account|shared)[-_]?key|authorization|^auth|dockerconfigjson|cookie)$/i;

/** Fields of a kubelet's configuration that carry headers with credentials. */
const SECRET_FIELDS: ReadonlySet<string> = new Set(['staticPodURLHeader']);

/** The same for a value of JSON: every text in it, and everything under a name that means a secret. */
export function redactValue(value: unknown, name = ''): unknown {
  if (SECRET_FIELDS.has(name) && value !== null) return REDACTED;
  if (typeof value === 'string') return SECRET_NAME.test(name) && value !== '' ? REDACTED : redactText(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactValue(item, key)]));
}

/** A payload is JSON in a string of JSON. */
function redactText(text: string): string {
  if (!/^\s*[{[]/.test(text)) return redact(text);
  try {
    return JSON.stringify(redactValue(JSON.parse(text)), null, 2);
  } catch {
    return redact(text);
  }
}
