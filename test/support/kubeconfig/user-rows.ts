import { base64, BASIC, exec, type Entry, type WireRow } from './wire-row.ts';
import type { WireWorld } from './wire-world.ts';

/** Of who asks, and with whose rights. */
export const userRows = ({ me }: WireWorld): readonly WireRow[] => [
  { what: 'nothing, where kubectl asks for a name and a password', user: {}, sends: [], kubectl: [] },
  { what: 'token', user: { token: 'one' }, sends: ['authorization: Bearer one'] },
  { what: 'tokenFile', user: { tokenFile: 'token' }, sends: ['authorization: Bearer from-file'] },
  {
    what: 'tokenFile before token',
    user: { tokenFile: 'token', token: 'one' },
    sends: ['authorization: Bearer from-file'],
  },
  {
    what: 'token for a tokenFile that is not there',
    user: { tokenFile: 'none', token: 'one' },
    sends: ['authorization: Bearer one'],
  },
  { what: 'tokenFile that is not there', user: { tokenFile: 'none' }, refused: /none/ },
  { what: 'username and password', user: { username: 'me', password: 's:ecret' }, sends: [`authorization: ${BASIC}`] },
  { what: 'username alone', user: { username: 'me' }, sends: [`authorization: Basic ${base64('me:')}`] },
  { what: 'token and username', user: { token: 'one', username: 'me' }, refused: /both a token and a username/ },
  {
    what: 'tokenFile and username',
    user: { tokenFile: 'token', username: 'me' },
    refused: /both a token and a username/,
  },
  { what: 'as', user: { token: 'one', as: 'jörg' }, sends: ['authorization: Bearer one', 'impersonate-user: jörg'] },
  {
    what: 'as-uid, as-groups, as-user-extra',
    user: {
      token: 'one',
      as: 'ada',
      'as-uid': '42',
      'as-groups': ['dev', 'ops'],
      'as-user-extra': { scopes: ['a', 'b'], 'example.com/a%b c': ['d'], none: [] },
    },
    sends: [
      'authorization: Bearer one',
      'impersonate-extra-example.com%2fa%25b%20c: d',
      'impersonate-extra-scopes: a',
      'impersonate-extra-scopes: b',
      'impersonate-group: dev',
      'impersonate-group: ops',
      'impersonate-uid: 42',
      'impersonate-user: ada',
    ],
  },
  { what: 'as-groups without as', user: { token: 'one', 'as-groups': ['dev'] }, refused: /has as-groups without as/ },
  { what: 'as-uid without as', user: { token: 'one', 'as-uid': '42' }, refused: /has as-uid without as/ },
  {
    what: 'as-user-extra without as',
    user: { token: 'one', 'as-user-extra': { a: ['b'] } },
    refused: /has as-user-extra without as/,
  },
  {
    what: 'as-groups that is no list',
    user: { token: 'one', as: 'ada', 'as-groups': 'dev' },
    refused: /user me: as-groups must be a list of text/,
  },
  {
    what: 'as without credential',
    user: { as: 'ada', 'client-certificate': 'me.crt', 'client-key': 'me.key' },
    sends: ['certificate: someone', 'impersonate-user: ada'],
  },
  {
    what: 'client-certificate and client-key',
    user: { 'client-certificate': 'me.crt', 'client-key': 'me.key' },
    sends: ['certificate: someone'],
  },
  {
    what: 'client-certificate-data and client-key-data',
    user: { 'client-certificate-data': base64(me.cert), 'client-key-data': base64(me.key) },
    sends: ['certificate: someone'],
  },
  {
    what: 'certificate and token',
    user: { 'client-certificate': 'me.crt', 'client-key': 'me.key', token: 'one' },
    sends: ['authorization: Bearer one', 'certificate: someone'],
  },
  {
    what: 'client-certificate twice',
    user: { 'client-certificate': 'me.crt', 'client-certificate-data': base64(me.cert), 'client-key': 'me.key' },
    refused: /both a file and data of its client-certificate/,
  },
  {
    what: 'client-key twice',
    user: { 'client-certificate': 'me.crt', 'client-key-data': base64(me.key), 'client-key': 'me.key' },
    refused: /both a file and data of its client-certificate or client-key/,
  },
  {
    what: 'client-certificate without client-key',
    user: { 'client-certificate': 'me.crt' },
    refused: /a client-certificate without a client-key/,
  },
  {
    what: 'client-certificate-data that is no base64',
    user: { 'client-certificate-data': '***' },
    refused: /client-certificate-data must be base64/,
  },
  { what: 'client-key alone', user: { token: 'one', 'client-key': 'me.key' }, sends: ['authorization: Bearer one'] },
  {
    what: 'auth-provider gcp',
    user: { 'auth-provider': { name: 'gcp' } },
    refused: /has the auth-provider gcp, which kubectl dropped/,
  },
  {
    what: 'auth-provider azure',
    user: { 'auth-provider': { name: 'azure' } },
    refused: /has the auth-provider azure, which kubectl dropped/,
  },
  {
    what: 'auth-provider and exec',
    user: { 'auth-provider': { name: 'oidc' }, ...exec() },
    refused: /both exec and auth-provider/,
  },
  {
    what: 'auth-provider oidc',
    user: { 'auth-provider': oidc(4_000_000_000) },
    sends: [`authorization: Bearer ${idToken(4_000_000_000)}`],
  },
  {
    what: 'auth-provider oidc that expired',
    user: { 'auth-provider': oidc(1_000_000_000) },
    refused: /run kubectl once/,
    kubectl: [],
  },
  {
    what: 'token before auth-provider',
    user: { token: 'one', 'auth-provider': oidc(1_000_000_000) },
    sends: ['authorization: Bearer one'],
  },
];

function idToken(exp: number): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ exp })}.x`;
}

function oidc(exp: number): Entry {
  return {
    name: 'oidc',
    config: { 'idp-issuer-url': 'https://127.0.0.1:1', 'client-id': 'us', 'id-token': idToken(exp) },
  };
}
