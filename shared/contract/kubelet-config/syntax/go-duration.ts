const UNIT_NS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
/** Both signs for micro, escaped: a bundler leaves regular expressions as they are, and one such sign doubles a bundle's memory. */
const PART = /(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

export const SECOND_NS = 1e9;

/**
 * Reads a duration as Go's `time.ParseDuration` does: `1h30m`, `1.5s`, `-5m`, `0`; no days, no bare numbers.
 *
 * @returns nanoseconds, or undefined where Go refuses it (also beyond 292 years)
 */
export function parseGoDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const body = text.replace(/^[-+]/, '');
  if (body === '0') return 0;
  let total = 0n;
  let end = 0;
  PART.lastIndex = 0;
  for (let part = PART.exec(body); part !== null; part = PART.exec(body)) {
    const [whole = '', fraction = ''] = (part[1] ?? '').split('.');
    const unit = UNIT_NS[part[2] ?? ''] ?? 0;
    total += BigInt(whole || 0) * BigInt(unit) + BigInt(Math.trunc(Number(fraction) * (unit / 10 ** fraction.length)));
    end = PART.lastIndex;
  }
  const limit = sign < 0 ? 2n ** 63n : 2n ** 63n - 1n;
  return end === 0 || end !== body.length || total > limit ? undefined : sign * Number(total) + 0;
}
