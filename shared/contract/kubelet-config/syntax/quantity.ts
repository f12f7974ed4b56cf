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
 * which needs a digit and is no whole number to those who ask, whatever its value.
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
