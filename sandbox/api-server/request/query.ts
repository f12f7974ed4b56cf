import { badRequest, unclassified } from '#sandbox/api-server/status/status-refusals.ts';

/** A whole number of a query; 0 if not given. @throws Refusal 400 */
export function countIn(query: URLSearchParams, key: string): number {
  const text = query.get(key) ?? '';
  if (text === '') return 0;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Math.max(0, Number(text));
}

/** As Go reads a flag: everything but an absence, `0` and `false` is true. */
export const flagIn = (query: URLSearchParams, key: string): boolean => {
  const value = query.get(key);
  return value !== null && value !== '0' && value !== 'false';
};

/** `resourceVersion`: undefined if not given, or empty. @throws Refusal 500, as the real server has it */
export function versionIn(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const why = `Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw unclassified(`resourceVersion: ${why}`);
}
