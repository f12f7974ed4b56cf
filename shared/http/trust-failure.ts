import { codeOf } from '../runtime/errors.ts';

/** Codes of node:tls (OpenSSL's) for a server certificate that is not valid here. */
const TRUST = /^(?:UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_|INVALID_CA|ERR_TLS_CERT|HOSTNAME_MISMATCH)/;

/** Whether the TLS handshake failed because of the server's certificate: other authorities may help. */
export const isTrustFailure = (error: unknown): boolean => TRUST.test(codeOf(error) ?? '');
