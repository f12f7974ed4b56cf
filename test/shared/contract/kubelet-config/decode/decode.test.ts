import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeKubeletConfig, decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { MAX_FILE_BYTES } from '#shared/contract/kubelet-config/decode/source-text.ts';
import { column } from '../../../../support/columns.ts';

const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const yaml = (text: string) => decodeYaml(bytes(text), 'f.yaml');

/** `code@line:column` of everything that was found. */
const found = (text: string | Uint8Array): readonly string[] =>
  decodeYaml(typeof text === 'string' ? bytes(text) : text, 'f.yaml').findings.map(
    ({ code, line, column }) => `${code}@${line ?? '-'}:${column ?? '-'}`,
  );

describe('what is found', () => {
  const WRITTEN: readonly (string | Uint8Array)[] = [
    'a: 1\na: 2',
    '{"a": 1, "a": 2}',
    'a: 1\n---\nb: 2',
    'a: yes\nb: 0644',
    'a: !x 5',
    'a: .inf',
    '{"a": 1.0}',
    '%YAML 2.0\n---\na: 1',
    'a: "\\q"',
    'sops: {mac: x}',
    Buffer.from('\uFEFFa: 1', 'utf16le'),
  ];

  it('is said of whoever reads the file, which is a kubelet or this software', () => {
    for (const text of WRITTEN) {
      const read = typeof text === 'string' ? bytes(text) : text;
      const ours = decodeYaml(read).findings.map(({ message }) => message);
      assert.ok(ours.length > 0, String(text));
      assert.doesNotMatch(ours.join('\n'), /kubelet(?!-gitops)/, String(text));
    }
    const said = [decodeYaml(bytes('a: 1\na: 2')), decodeKubeletConfig(bytes(`${HEADER}a: 1\na: 2`))].map(
      ({ findings }) => findings[0]?.message,
    );
    assert.deepEqual(said, [
      '"a" is there twice, and kubelet-gitops takes the last',
      '"a" is there twice, and the kubelet takes the last',
    ]);
  });
});

describe('decoding YAML', () => {
  const values: readonly (readonly [string, string, unknown])[] = [
    [
      'reads maps, lists and scalars',
      'a: 1\nb: [x, "1", true]\nc: {d: null}',
      { a: 1, b: ['x', '1', true], c: { d: null } },
    ],
    ['leaves out a byte order mark', '\uFEFFa: 1', { a: 1 }],
    ['takes CRLF and lone CR as line ends', 'a: 1\r\nb: 2\rc: 3', { a: 1, b: 2, c: 3 }],
    ['leaves quoted words as text', 'a: "yes"\nb: \'0644\'', { a: 'yes', b: '0644' }],
    ['leaves block text as text', 'a: |\n  yes\n', { a: 'yes\n' }],
    ['follows a few aliases', 'a: &x {b: 1}\nc: *x', { a: { b: 1 }, c: { b: 1 } }],
    [
      'merges a map under what is written out',
      'a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  c: 3',
      { a: { b: 1, c: 2 }, d: { b: 1, c: 3 } },
    ],
    [
      'lets the first of several merged maps win',
      'a: &x {k: 1}\nb: &y {k: 2}\nc:\n  <<: [*x, *y]',
      { a: { k: 1 }, b: { k: 2 }, c: { k: 1 } },
    ],
    ['turns numeric keys into text', '1: a', { '1': 'a' }],
    ['obeys a tag for text', 'a: !!str 5', { a: '5' }],
    ['obeys a tag for a number', 'a: !!int "5"', { a: 5 }],
    ['takes the directive of the version that the kubelet reads', '%YAML 1.1\n---\na: 1', { a: 1 }],
    ['keeps a key called __proto__ as data', '__proto__: 1', JSON.parse('{"__proto__":1}')],
    ['reads JSON where the text starts with a brace', ' {"a": [1, {"b": "c"}]}', { a: [1, { b: 'c' }] }],
    ['takes a separator at the end for no second document', 'a: 1\n---\n', { a: 1 }],
    ['nor several with comments', 'a: 1\n---\n# nothing\n--- # here\n\n...\n', { a: 1 }],
    ['keeps whole numbers exact', 'a: 9007199254740993', { a: 9_007_199_254_740_993n }],
    ['keeps whole numbers exact in JSON', '{"a": 9007199254740993}', { a: 9_007_199_254_740_993n }],
  ];
  for (const [name, text, value] of values) {
    it(name, () => {
      const decoded = yaml(text);
      assert.deepEqual(decoded.findings, []);
      assert.deepEqual(decoded.value, value);
    });
  }

  const faults: readonly (readonly [string, string | Uint8Array, readonly string[]])[] = [
    ['an empty file', '', ['empty-file@1:1']],
    ['nothing but comments', '# hello\n', ['empty-file@1:1']],
    ['a file beyond the limit, and reads it', `a: 1 # ${'x'.repeat(MAX_FILE_BYTES)}`, ['file-too-big@-:-']],
    ['bytes that are no UTF-8', Buffer.from([0x61, 0x3a, 0x20, 0xff]), ['not-utf8@-:-']],
    ['a control character', 'a: 1\nb: x\u0007', ['not-utf8@2:5']],
    ['a tab as indentation', 'a:\n\tb: 1', ['yaml-syntax@2:1']],
    ['a key twice', 'a: 1\nb: 2\na: 3', ['duplicate-key@3:1']],
    ['a key twice in JSON', '{"a": 1,\n "a": 2}', ['duplicate-key@2:2']],
    ['a second document', 'a: 1\n---\nb: 2', ['several-documents@2:1']],
    ['a second document after an empty one', 'a: 1\n---\n# x\n---\nb: 2', ['several-documents@2:1']],
    ['a second document that is no YAML', 'a: 1\n---\n{', ['several-documents@2:1']],
    ['a second document of nothing but null', 'a: 1\n---\nnull\n', ['several-documents@2:1']],
    ['a word that only the kubelet takes for a truth value', 'a:\n  b: yes', ['yaml-ambiguous@2:6']],
    ['an octal number', 'a: 0644', ['yaml-ambiguous@1:4']],
    ['a key that is a truth value', 'on: 1', ['yaml-ambiguous@1:1']],
    ['a merge below what it overrides', 'a: &x {b: 1}\nc:\n  b: 2\n  <<: *x', ['yaml-ambiguous@4:3']],
    ['a tag of its own', 'a: !mine 5', ['yaml-tag@1:4']],
    ['a tag that contradicts the value', 'a: !!int 5.0', ['bad-tag@1:4']],
    ['an alias without an anchor', 'a: *x', ['yaml-alias@1:4']],
    ['an anchor in itself', 'a: &x [*x]', ['yaml-alias@1:8']],
    ['a list as a key', '[a]: 1', ['yaml-key@1:1']],
    ['infinity', 'a: .inf', ['number-not-finite@1:4']],
    ['another version of YAML', '%YAML 1.2\n---\na: 1', ['yaml-directive@1:1']],
    ['a comment in JSON', '{"a": 1} # x', ['json-syntax@1:10']],
    ['a trailing comma in JSON', '{"a": 1,}', ['json-syntax@1:9']],
    ['a word without quotes in JSON', '{"a": yes}', ['json-syntax@1:7']],
    ['JSON that is cut off', '{"a": [1', ['json-syntax@1:9']],
    ['a whole number written as a fraction in JSON', '{"a": 1.0}', ['json-number@1:7']],
    ['half a surrogate pair', 'a: "\\uD800"', ['yaml-syntax@1:5']],
    ['UTF-16', Buffer.from('\uFEFFa: 1', 'utf16le'), ['odd-encoding@-:-']],
    ['JSON with bytes that are no UTF-8', Buffer.from('{"a": "\xFF"}', 'latin1'), ['odd-encoding@-:-']],
  ];
  for (const [name, text, expected] of faults) it(`finds ${name}`, () => assert.deepEqual(found(text), expected));

  it('stops an alias bomb before it grows', () => {
    const bomb = [
      'a0: &a0 [x]',
      ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}, *a${i}]`),
    ];
    assert.deepEqual(column(yaml(bomb.join('\n')).findings, 'code'), ['many-aliases', 'yaml-alias']);
  });

  it('stops at a depth that no config needs', () => {
    assert.deepEqual(column(yaml(`a: ${'['.repeat(80)}${']'.repeat(80)}`).findings, 'code'), ['too-deep']);
    assert.deepEqual(found(`{"a": ${'['.repeat(80)}${']'.repeat(80)}}`).length, 1);
  });

  it('says what to write instead of an ambiguous word', () => {
    assert.equal(yaml('a: yes').findings[0]?.suggestion, 'write true if that is meant, or "yes" in quotes');
  });

  it('reads as the kubelet does although it refuses', () => {
    assert.deepEqual(yaml('a: yes\nb: 1\nb: 010').value, { a: true, b: 8 });
  });

  it('knows where every key and item is', () => {
    const { positionOf } = yaml('a:\n  b:\n    - x\n    - c: 1\n');
    assert.deepEqual(positionOf(['a', 'b', 1, 'c']), { file: 'f.yaml', line: 4, column: 7 });
    assert.deepEqual(positionOf(['a', 'b', 0]), { file: 'f.yaml', line: 3, column: 7 });
    assert.deepEqual(positionOf(['a', 'missing', 'x']), { file: 'f.yaml', line: 1, column: 1 });
  });

  it('counts lines through CRLF and multi-byte characters', () => {
    const { positionOf } = yaml('# ä\r\na: "ü"\r\nb: 1\r\n');
    assert.deepEqual(positionOf(['b']), { file: 'f.yaml', line: 3, column: 1 });
  });
});

describe('decoding a KubeletConfiguration', () => {
  const codes = (text: string): readonly string[] => decodeKubeletConfig(bytes(text)).findings.map(({ code }) => code);

  it('gives the map with its type fields', () => {
    const { value, findings } = decodeKubeletConfig(bytes(`${HEADER}maxPods: 5\n`));
    assert.deepEqual(findings, []);
    assert.deepEqual(value, { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', maxPods: 5 });
  });

  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    ['another kind', 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: CredentialProviderConfig\n', ['wrong-kind']],
    ['another version', 'apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration\n', ['wrong-kind']],
    ['no type fields', 'maxPods: 5\n', ['wrong-kind']],
    ['a number for a version', 'apiVersion: 99999999999999999999\nkind: KubeletConfiguration\n', ['wrong-kind']],
    [
      'type fields in capitals',
      'ApiVersion: kubelet.config.k8s.io/v1beta1\nKind: KubeletConfiguration\n',
      ['wrong-case', 'wrong-case'],
    ],
    ['a list', '- a\n', ['wrong-kind']],
    ['a single value', 'hello\n', ['wrong-kind']],
  ];
  for (const [name, text, expected] of rows) {
    it(`refuses ${name}`, () => {
      assert.deepEqual(codes(text), expected);
      const isRead = expected.every((code) => code === 'wrong-case');
      assert.equal(decodeKubeletConfig(bytes(text)).value !== undefined, isRead);
    });
  }
});
