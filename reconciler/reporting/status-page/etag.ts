import { createHash } from 'node:crypto';

/** Equal bytes have equal tags. */
export const etagOf = (body: Buffer | string): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
