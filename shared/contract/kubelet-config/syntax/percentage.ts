/** Go's `strconv.ParseFloat` in decimal: underscores may stand between digits. */
const DECIMAL = /^[-+]?(?:D(?:\.(?:D)?)?|\.D)(?:[eE][-+]?D)?$/;
const GO_FLOAT = new RegExp(DECIMAL.source.replaceAll('D', String.raw`\d+(?:_\d+)*`));
const HEXADECIMAL = /^([-+]?)0[xX]([0-9a-fA-F]+)?(?:\.([0-9a-fA-F]*))?[pP]([-+]?\d+)$/;
const INFINITE = /^([-+]?)inf(?:inity)?$/i;

/** `12.5%` → 12.5, as eviction thresholds have it; undefined for any other text. More than one % is let through. */
export function parsePercentage(text: string): number | undefined {
  if (!text.endsWith('%')) return undefined;
  let end = text.length;
  while (text[end - 1] === '%') end -= 1;
  const number = text.slice(0, end);
  if (/^nan$/i.test(number)) return Number.NaN;
  const infinite = INFINITE.exec(number);
  if (infinite !== null) return infinite[1] === '-' ? -Infinity : Infinity;
  if (GO_FLOAT.test(number)) return finite(Number(number.replaceAll('_', '')));
  const [, sign, whole = '', fraction = '', exponent] = HEXADECIMAL.exec(number) ?? [];
  if (exponent === undefined || whole + fraction === '') return undefined;
  const size = Number.parseInt(whole + fraction, 16) * 2 ** (Number(exponent) - 4 * fraction.length);
  return finite(sign === '-' ? -size : size);
}

/** What is beyond a 32-bit float is refused, infinity itself is not. */
const finite = (value: number): number | undefined => (Number.isFinite(Math.fround(value)) ? value : undefined);

/** `50%` → 50, as reservations have it: whole numbers from 0 to 100. */
export function parseWholePercentage(text: string): number | undefined {
  const match = /^([-+]?\d+)%+$/.exec(text);
  const value = Number(match?.[1]);
  return match !== null && value >= 0 && value <= 100 ? value : undefined;
}
