import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { V1ConfigMap } from '@kubernetes/client-node';
import { appendHash, type HashedConfigMap, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { see, table } from './scenario.ts';

type Content = Omit<HashedConfigMap, 'name'>;

/** What kubectl's own tests hash, the suffix that they expect, and the JSON that it is the hash of. */
const VECTORS: readonly (readonly [what: string, Content, suffix: string, json: string])[] = [
  ['empty data', { data: {} }, '42745tchd9', '"data":{}'],
  ['one key', { data: { one: '' } }, '9g67k2htb6', '"data":{"one":""}'],
  [
    'three keys in another order',
    { data: { two: '2', one: '', three: '3' } },
    'f5h7t85m9b',
    '"data":{"one":"","three":"3","two":"2"}',
  ],
  ['no data', { data: null }, 'dk855m5d49', '"data":null'],
  ['one binary key', { data: null, binaryData: { one: '' } }, 'mk79584b8c', '"binaryData":{"one":""},"data":null'],
  [
    'three binary keys in another order',
    { data: null, binaryData: { two: 'Mg==', one: '', three: 'Mw==' } },
    't458mc6db2',
    '"binaryData":{"one":"","three":"Mw==","two":"Mg=="},"data":null',
  ],
  [
    'a key of either kind',
    { data: { one: '' }, binaryData: { two: '' } },
    '698h7c7t9m',
    '"binaryData":{"two":""},"data":{"one":""}',
  ],
];

/** The suffix of a text, made by hand. */
function suffixOf(json: string): string {
  const letters: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };
  const hex = createHash('sha256').update(json).digest('hex');
  return hex
    .slice(0, 10)
    .split('')
    .map((digit) => letters[digit] ?? digit)
    .join('');
}

export const scenarios = see('the hash in the name of a config source', [
  ...table(
    141,
    VECTORS,
    ([what]) => `${what}: the suffix is kubectl's`,
    ([, content, suffix]) => assert.equal(appendHash({ name: '', ...content }), suffix),
  ),
  ...table(
    148,
    VECTORS,
    ([what]) => `${what}: it is the hash of JSON with sorted keys and nothing that says nothing`,
    ([, content, , json]) => {
      assert.equal(appendHash({ name: '', ...content }), suffixOf(`{${json},"kind":"ConfigMap","name":""}`));
    },
  ),
  {
    dkc: 155,
    title: 'the SHA-256 of nothing is what everybody has for it',
    see: () => assert.equal(payloadSha256(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'),
  },
  {
    dkc: 156,
    title: 'a ConfigMap has no part that nobody has thought of yet',
    see() {
      const parts = V1ConfigMap.getAttributeTypeMap().map(({ name }) => name);
      // Hashed: binaryData, data, kind, and the name of metadata. kubectl hashes `immutable` where it is set, which it
      // cannot set itself.
      assert.deepEqual(parts.toSorted(byText), ['apiVersion', 'binaryData', 'data', 'immutable', 'kind', 'metadata']);
    },
  },
]);

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
