const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * Reads a quantity as apimachinery's `resource.ParseQuantity` does: `1.5Gi`, `100m`, `1e3`.
 *
 * @returns its size as a double (exact up to 2^53), or undefined where Kubernetes refuses it
 */
export function parseQuantity(text: string): number | undefined {
  const match = /^([-+]?(?:\d+\.?\d*|\.\d+))(?:([eE][-+]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(text);
  if (match === null) return undefined;
  const [, digits = '', exponent, suffix = ''] = match;
  if (exponent !== undefined) return Number(`${digits}${exponent}`) + 0;
  const unit = SUFFIXES[suffix];
  return unit === undefined ? undefined : Number(digits) * unit + 0;
}
