/** Go's `strconv.ParseFloat`, as far as a percentage in an eviction threshold can meet it. */
const GO_FLOAT = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf|infinity|nan)$/i;

/** `12.5%` → 12.5, as eviction thresholds have it; undefined where it is none. */
export function parsePercentage(text: string): number | undefined {
  const number = text.slice(0, -1);
  if (!text.endsWith('%') || !GO_FLOAT.test(number)) return undefined;
  if (/inf/i.test(number)) return number.startsWith('-') ? -Infinity : Infinity;
  return Number(number.toLowerCase().replace('nan', 'NaN'));
}

/** `50%` → 50, as reservations have it: whole numbers from 0 to 100. */
export function parseWholePercentage(text: string): number | undefined {
  const match = /^([-+]?\d+)%$/.exec(text);
  const value = Number(match?.[1]);
  return match !== null && value >= 0 && value <= 100 ? value : undefined;
}
