import { setOwn } from '../decode/json.ts';
import { formatPath, type Path } from '../position.ts';
import { existsIn } from '../fields/fields.ts';
import { writtenFields } from '../written-fields.ts';
import type { Complaint } from './rule.ts';
import { isMap } from '../../../runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

interface Wrapped {
  /** With the numbers that the kubelet makes of those that are too large. */
  readonly config: Config;
  readonly complaints: readonly Complaint[];
}

/** Last minor whose JSON library misses some overflows. */
const LAST_CARELESS = 22;

/**
 * Kubelets up to 1.22 take some whole numbers that do not fit their field, and what is left of them counts: 10000000000
 * pods are 1410065408. Most others they refuse, as later ones refuse all.
 */
export function wrapNumbers(config: Config, minor: number): Wrapped {
  if (minor > LAST_CARELESS) return { config, complaints: [] };
  let wrapped = config;
  const complaints: Complaint[] = [];
  for (const { field, path, value } of writtenFields(config, (written) => existsIn(written.field, minor))) {
    const bits = field.kind === 'int32' ? 32 : field.kind === 'int64' ? 64 : undefined;
    if (bits === undefined || !isWhole(value)) continue;
    const number = BigInt(value);
    const taken = asTaken(number, bits);
    if (taken === undefined || taken === number) continue;
    wrapped = replaced(wrapped, path, Number(taken));
    const message = `kubelets up to 1.22 take ${number} for ${taken}, and later ones refuse it`;
    complaints.push({ code: 'wrapped-number', at: path, message: `${formatPath(path)}: ${message}` });
  }
  return { config: wrapped, complaints };
}

const isWhole = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e21);

/** Digit by digit in an unsigned number of so many bits; only a digit that makes it smaller is noticed. */
function asTaken(number: bigint, bits: number): bigint | undefined {
  const size = 2n ** BigInt(bits);
  const safe = (size - 1n) / 10n - 1n;
  let value = 0n;
  for (const digit of String(number < 0n ? -number : number)) {
    const next = (value * 10n + BigInt(digit)) % size;
    if (value > safe && next < value) return undefined;
    value = next;
  }
  const limit = size / 2n - (number < 0n ? 0n : 1n);
  if (value > limit) return undefined;
  return number < 0n ? -value : value;
}

/** A copy with one value changed. Lists are not gone into: no field in one was that careless. */
function replaced(map: Config, [step, ...rest]: Path, value: unknown): Config {
  if (typeof step !== 'string') return map;
  const inner = map[step];
  const copy = { ...map };
  setOwn(copy, step, rest.length === 0 ? value : isMap(inner) ? replaced(inner, rest, value) : inner);
  return copy;
}
