import { X509Certificate } from 'node:crypto';

/** From when to when a certificate is good, in seconds since the epoch. */
export interface Validity {
  readonly fromSeconds: number;
  readonly toSeconds: number;
}

/** @param der undefined comes back for what is no certificate, or one without readable times */
export function validityOf(der: Buffer): Validity | undefined {
  try {
    const { validFrom, validTo } = new X509Certificate(der);
    const [fromSeconds, toSeconds] = [Date.parse(validFrom) / 1000, Date.parse(validTo) / 1000];
    return Number.isNaN(fromSeconds + toSeconds) ? undefined : { fromSeconds, toSeconds };
  } catch {
    return undefined;
  }
}
