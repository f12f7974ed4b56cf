import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { parse } from 'yaml';
import { decodeReference, encodeReference } from '#agent/checkpoint/reference.ts';
import type { Config } from '#agent/decide/state.ts';
import { A, AT } from '../../support/agent/states.ts';
import { anyTexts, byLibrary, documentOf, lines, references, TRICKY } from './support/references.ts';
import { runsOf } from '../../support/sample.ts';

const RUNS = runsOf(1_000, 10);

/** As earlier releases read the file. */
const readByLibrary = (text: string): unknown => parse(text, { version: '1.1', maxAliasCount: 0, logLevel: 'silent' });

describe('a reference on the disk', () => {
  it('is byte for byte what the yaml library wrote, and is read back', () => {
    fc.assert(
      fc.property(references(lines), (reference) => {
        const text = encodeReference(reference);
        assert.equal(text, byLibrary(documentOf(reference)));
        assert.deepEqual(decodeReference(text), reference);
      }),
      { numRuns: 2 * RUNS },
    );
  });

  it('is so for each text that readers take for something else', () => {
    for (const text of TRICKY) {
      const target: Config = { ...A, pool: text, commit: text, allowFields: [text], tolerate: [text, text] };
      const reference = { target, promotedAt: text };
      assert.equal(encodeReference(reference), byLibrary(documentOf(reference)));
      assert.deepEqual(decodeReference(encodeReference(reference)), reference);
    }
  });

  it('keeps texts with line ends and control characters, for the library as well', () => {
    fc.assert(
      fc.property(references(anyTexts), (reference) => {
        const text = encodeReference(reference);
        assert.deepEqual(decodeReference(text), reference);
        assert.deepEqual(readByLibrary(text), documentOf(reference));
      }),
      { numRuns: RUNS },
    );
  });

  it('that an earlier release wrote is read, texts of several lines and with control characters included', () => {
    const words = lines.filter((text) => /^[^ \t].*[^ \t]$/.test(text));
    const severalLines = fc.array(words, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('\n'));
    const withControls = fc.array(fc.oneof(words, fc.constantFrom('\0', '\u001B', '\r', '\u007F', '\u0099')), {
      maxLength: 5,
    });
    const texts = fc.oneof(
      severalLines,
      withControls.map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(references(texts), (reference) => {
        assert.deepEqual(decodeReference(byLibrary(documentOf(reference))), reference);
      }),
      { numRuns: RUNS },
    );
  });

  it('is read as go-yaml writes it, which wrote that of the kubelet', () => {
    const goYaml = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: SerializedNodeConfigSource
kubeletGitops:
  allowFields:
  - "yes"
  - 'it''s: so'
  - |-
    two
    lines
  apply: overlay
  commit: c0ffee
  pool: general
  promotedAt: "${AT}"
  sha256: ${A.source.sha256}
  trial:
    duration: 10m
    maxRestarts: 2
    startTimeout: 2m
  version: 1
source:
  configMap:
    kubeletConfigKey: kubelet
    name: general-aaaaaaaaaa
    namespace: kubelet-gitops
    resourceVersion: "41"
    uid: uid-a
`;
    const target: Config = { ...A, allowFields: ['yes', "it's: so", 'two\nlines'] };
    assert.deepEqual(decodeReference(goYaml), { target, promotedAt: AT });
    // The kubelet's own file says where the bytes are, and not what they have to be.
    const ofTheKubelet = goYaml.replace(/^kubeletGitops:\n(?: .*\n)+/m, '');
    assert.throws(() => decodeReference(ofTheKubelet), { code: 'CHECKPOINT_DAMAGED', message: /kubeletGitops/ });
  });

  it('has no half of a surrogate pair, which no file can hold', () => {
    const read = decodeReference(encodeReference({ target: { ...A, pool: 'a\uD800' }, promotedAt: null }));
    assert.equal(read.target?.pool, 'a\uFFFD');
  });
});
