/** A quantity's parts. Leading zeros are gone from the digits; without any, the digits are `0`. */
interface Parts {
  readonly isNegative: boolean;
  readonly hasDigits: boolean;
  readonly whole: string;
  readonly fraction: string;
  /** `10 ** exponent`, or `2 ** exponent`. */
  readonly base: 2 | 10;
  readonly exponent: number;
}

const QUANTITY = /^([-+]?)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

function partsOf(text: string): Parts | undefined {
  const match = text === '' ? null : QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, sign, digits = '', fraction = '', exponent, suffix = ''] = match;
  const binary = suffix.endsWith('i') ? BINARY_SUFFIXES.indexOf(suffix) * 10 : undefined;
  const decimal = exponent === undefined ? DECIMAL_SUFFIXES.indexOf(suffix) * 3 - 9 : Number(exponent);
  return {
    isNegative: sign === '-',
    hasDigits: digits !== '' || fraction !== '',
    whole: digits.replace(/^0+/, '') || '0',
    fraction,
    base: binary === undefined ? 10 : 2,
    exponent: binary ?? decimal,
  };
}

/**
 * Whether Kubernetes reads the quantity into 64 bits at once. What it does not is kept as a decimal fraction instead,
 * which needs a digit and is not a whole number to those who ask, whatever its value.
 */
function isShort({ whole, fraction, base, exponent }: Parts): boolean {
  if (base === 10) return 18 - whole.length - fraction.length >= 0 && exponent - fraction.length >= -9;
  if (fraction !== '' || 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1 < 0) return false;
  return BigInt(whole) << BigInt(exponent) < 2n ** 63n;
}

/**
 * Reads a quantity as apimachinery's `resource.ParseQuantity` does: `1.5Gi`, `100m`, `1e3`; digits may be missing (`k`
 * is 0).
 *
 * @returns its size as a double (exact up to 2^53), or undefined where Kubernetes refuses it
 */
export function parseQuantity(text: string): number | undefined {
  const parts = partsOf(text);
  if (parts === undefined || (!parts.hasDigits && !isShort(parts))) return undefined;
  const { isNegative, whole, fraction, base, exponent } = parts;
  const number = `${whole}.${fraction || 0}`;
  const size = base === 10 ? Number(`${number}e${exponent}`) : Number(number) * 2 ** exponent;
  return (isNegative ? -size : size) + 0;
}

/**
 * The quantity as Kubernetes' `Value` gives it: rounded away from zero, and into 64 bits in its own ways. What is too large for them may
 * come out as any number, 0 among them.
 */
export function valueOfQuantity(text: string): bigint {
  const parts = partsOf(text);
  if (parts === undefined) return 0n;
  const { isNegative, whole, fraction, base, exponent } = parts;
  const sign = isNegative ? -1n : 1n;
  const isKept = isShort(parts);
  const digits = base === 2 ? BigInt(whole + fraction) << BigInt(exponent) : BigInt(whole + fraction);
  const scale = base === 2 ? -fraction.length : exponent - fraction.length;
  if (isKept && scale >= 0) return fitting(sign * digits * 10n ** BigInt(Math.min(scale, 40)));
  if (isKept) return sign * dividedUp(digits, 10n ** BigInt(-scale));
  // A decimal fraction with nine digits behind its point; only binary ones have an upper end.
  const billionths =
    scale >= -9
      ? digits * 10n ** BigInt(Math.min(scale + 9, 400))
      : dividedUp(digits, 10n ** BigInt(Math.min(-9 - scale, 400)));
  if (base === 2 && billionths > INT64_MAX * BILLION) return sign * INT64_MAX;
  const unscaled = sign * billionths;
  if (unscaled >= INT64_MAX) return BigInt.asIntN(64, dividedUp(unscaled, BILLION));
  const wrapped = BigInt.asIntN(64, unscaled);
  return wrapped / BILLION + (wrapped % BILLION === 0n ? 0n : 1n);
}

const INT64_MAX = 2n ** 63n - 1n;
const BILLION = 10n ** 9n;

const dividedUp = (size: bigint, by: bigint): bigint => (size + by - 1n) / by;

const fitting = (value: bigint): bigint => (value > INT64_MAX || value < -INT64_MAX - 1n ? 0n : value);

/** The quantity as a whole number where Kubernetes' `AsInt64` has one: `1Gi`, but neither `1.0Gi` nor `1000m`. */
export function wholeQuantity(text: string): bigint | undefined {
  const parts = partsOf(text);
  if (parts === undefined || !isShort(parts)) return undefined;
  const { isNegative, whole, fraction, base, exponent } = parts;
  const scale = base === 10 ? exponent - fraction.length : 0;
  if (scale < 0 || scale > 18) return undefined;
  const size = base === 2 ? BigInt(whole) << BigInt(exponent) : BigInt(whole + fraction) * 10n ** BigInt(scale);
  if (size >= 2n ** 63n) return undefined;
  return isNegative ? -size : size;
}

/** A quantity as the decoder of typed quantities takes it (apimachinery's `Quantity.UnmarshalJSON`). */
export function trimmedQuantity(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && QUANTITY_SPACE.test(text[start] ?? '')) start += 1;
  while (end > start && QUANTITY_SPACE.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(start, end);
}

const QUANTITY_SPACE = /[^\S\t-\r\uFEFF]/;
