import { isIPv6 } from 'node:net';

type Raw = Readonly<Record<string, unknown>>;

/**
 * How many addresses a Node's `spec.podCIDRs` have for pods, in the family that has fewest.
 *
 * @returns undefined for none: the cluster's network hands addresses out by other means
 */
export function podAddresses(spec: Raw): number | undefined {
  const many = Array.isArray(spec['podCIDRs']) ? (spec['podCIDRs'] as readonly unknown[]) : [];
  const sizes = (many.length > 0 ? many : [spec['podCIDR']]).map(sizeOf).filter((size) => size !== undefined);
  return sizes.length === 0 ? undefined : Math.min(...sizes);
}

/** Of an IPv4 range, the first and the last address are reserved. */
function sizeOf(cidr: unknown): number | undefined {
  const [, address = '', length = ''] =
    /^([\d.]+|[\da-f:]+)\/(\d{1,3})$/i.exec(typeof cidr === 'string' ? cidr : '') ?? [];
  const bits = (isIPv6(address) ? 128 : 32) - Number(length);
  if (address === '' || bits < 0) return undefined;
  return isIPv6(address) ? 2 ** bits : Math.max(2 ** bits - 2, 0);
}
