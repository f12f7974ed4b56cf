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
const LONGEST_UNIT = 2;
/** Characters. Go has no limit, and no duration written by hand is longer. */
const LONGEST = 4_096;

export const SECOND_NS = 1e9;

/**
 * Reads a duration as Go's `time.ParseDuration` does: `1h30m`, `1.5s`, `-5m`, `0`; no days, no bare numbers.
 *
 * @returns nanoseconds, or undefined where Go refuses it (also beyond 292 years)
 */
export function parseGoDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1;
  const body = /^[-+]/.test(text) ? text.slice(1) : text;
  if (body === '0') return 0;
  if (body === '' || body.length > LONGEST) return undefined;
  let total = 0n;
  for (let at = 0; at < body.length;) {
    const wholeEnd = digitsEnd(body, at);
    const end = body[wholeEnd] === '.' ? digitsEnd(body, wholeEnd + 1) : wholeEnd;
    const whole = body.slice(at, wholeEnd);
    const fraction = body.slice(wholeEnd + 1, end);
    const unit = unitAt(body, end);
    if (whole + fraction === '' || unit === undefined) return undefined;
    const size = UNIT_NS[unit] ?? 0;
    total += BigInt(whole || 0) * BigInt(size) + BigInt(Math.trunc(Number(fraction) * (size / 10 ** fraction.length)));
    at = end + unit.length;
  }
  const limit = sign < 0 ? 2n ** 63n : 2n ** 63n - 1n;
  return total > limit ? undefined : sign * Number(total) + 0;
}

function digitsEnd(text: string, start: number): number {
  let at = start;
  while (/\d/.test(text[at] ?? '')) at += 1;
  return at;
}

/** The longest unit that stands there. */
function unitAt(text: string, at: number): string | undefined {
  for (let length = LONGEST_UNIT; length > 0; length -= 1) {
    const unit = text.slice(at, at + length);
    if (Object.hasOwn(UNIT_NS, unit)) return unit;
  }
  return undefined;
}
