import { join } from 'node:path';
import { base64, type WireRow } from './wire-row.ts';
import type { WireWorld } from './wire-world.ts';

/** Of the server, its authority, and the form of the file. */
export const clusterRows = ({ directory, ca, http, https }: WireWorld): readonly WireRow[] => [
  {
    what: 'certificate-authority-data',
    bare: true,
    cluster: { server: https, 'certificate-authority-data': base64(ca) },
    user: { token: 'one' },
    sends: ['authorization: Bearer one'],
  },
  {
    what: 'certificate-authority twice',
    cluster: { 'certificate-authority-data': base64(ca) },
    user: { token: 'one' },
    refused: /both certificate-authority and certificate-authority-data/,
  },
  {
    what: 'no authority',
    bare: true,
    cluster: { server: https },
    user: { token: 'one' },
    refused: /its certificate is not trusted/,
  },
  {
    what: 'authority in SSL_CERT_FILE',
    bare: true,
    cluster: { server: https },
    user: { token: 'one' },
    env: { SSL_CERT_FILE: join(directory, 'ca.crt') },
    sends: ['authorization: Bearer one'],
  },
  {
    what: 'insecure-skip-tls-verify',
    bare: true,
    cluster: { server: https, 'insecure-skip-tls-verify': true },
    user: { token: 'one' },
    sends: ['authorization: Bearer one'],
  },
  {
    what: 'insecure-skip-tls-verify beside an authority',
    cluster: { 'insecure-skip-tls-verify': true },
    user: { token: 'one' },
    refused: /insecure-skip-tls-verify beside a certificate-authority/,
  },
  {
    what: 'tls-server-name',
    cluster: { 'tls-server-name': 'other.test' },
    user: { token: 'one' },
    sends: ['authorization: Bearer one', 'name: other.test'],
  },
  {
    what: 'tls-server-name of another server',
    cluster: { 'tls-server-name': 'third.test' },
    user: { token: 'one' },
    refused: /its certificate is for another name/,
  },
  {
    what: 'disable-compression',
    cluster: { 'disable-compression': true },
    user: { token: 'one' },
    packed: false,
    sends: ['authorization: Bearer one'],
  },
  {
    what: 'server without TLS',
    bare: true,
    cluster: { server: http },
    user: { token: 'one', username: '' },
    sends: [],
  },
  {
    what: 'as over a server without TLS',
    bare: true,
    cluster: { server: http },
    user: { token: 'one', as: 'ada' },
    sends: ['impersonate-user: ada'],
  },
  {
    what: 'server with a password',
    cluster: { server: https.replace('//', '//me:s@') },
    user: { 'client-certificate': 'me.crt', 'client-key': 'me.key' },
    refused: /a server with a password in it/,
    kubectl: ['accept-encoding: gzip', `authorization: Basic ${base64('me:s')}`, 'certificate: someone'],
  },
  {
    what: 'server without a scheme',
    cluster: { server: https.replace('https://', '') },
    user: { token: 'one' },
    refused: /begins with neither https:\/\/ nor http:\/\//,
    kubectl: [],
  },
  {
    what: 'kind of something else',
    config: { kind: 'Secret' },
    user: { token: 'one' },
    refused: /kind must be Config/,
  },
  {
    what: 'apiVersion of something else',
    config: { apiVersion: 'v2' },
    user: { token: 'one' },
    refused: /apiVersion must be v1/,
  },
  {
    what: 'a user twice',
    config: { users: ['one', 'two'].map((token) => ({ name: 'me', user: { token } })) },
    refused: /users has me twice/,
  },
  {
    what: 'preferences, extensions and fields that nobody knows',
    config: { preferences: { colors: true }, extensions: [], extra: 1 },
    user: { token: 'one', extensions: [], more: 1 },
    sends: ['authorization: Bearer one'],
  },
  { what: 'token that is a number', user: { token: 12 }, refused: /token must be text/ },
];
