import { codeOf } from '../runtime/errors.ts';

/** Codes of node:tls (OpenSSL's) for a server certificate that is not valid here. */
const TRUST = /^(?:UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_|INVALID_CA|ERR_TLS_CERT|HOSTNAME_MISMATCH)/;

/** Whether the TLS handshake failed because of the server's certificate: other authorities may help. */
export const isTrustFailure = (error: unknown): boolean => TRUST.test(codeOf(error) ?? '');

/**
 * What is wrong with such a certificate, and what helps, for people. Another authority makes nothing of a certificate that is out of date, or
 * for another name.
 *
 * @param missing what helps where its authority is not known
 */
export function certificateFault(error: unknown, missing: string): { readonly is: string; readonly help: string } {
  const code = codeOf(error) ?? '';
  if (/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/.test(code))
    return { is: 'not valid now', help: 'renew it, unless the clock here is wrong' };
  if (/^(?:ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH)/.test(code))
    return { is: 'for another name', help: 'use a name that it has' };
  return { is: 'not trusted', help: missing };
}
