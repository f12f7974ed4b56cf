import { stringify } from 'yaml';

/** A value on one line as it would be written into a file: `512Mi`, `"1.30"`, `[pods]`, `{cron: "0 0 1 * *"}`. */
export const yamlValue = (value: unknown): string =>
  stringify(value, {
    version: '1.1',
    lineWidth: 0,
    collectionStyle: 'flow',
    flowCollectionPadding: false,
  }).trimEnd();

/** The same of JSON text; text that is none, as where it was cut, stays, and so do numbers, however many digits they have. */
export function yamlOfJson(text: string): string {
  if (!/^["[{]/.test(text)) return text;
  try {
    return yamlValue(JSON.parse(text) as unknown);
  } catch {
    return text;
  }
}
