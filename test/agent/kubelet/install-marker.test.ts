import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAllOf } from '../../support/property.ts';
import { parse } from 'yaml';
import { isMarked, renderManaged } from '#agent/kubelet/install-marker.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';

const TYPE = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom('\u0085', '\u2028', '\ufeff', '\u007f', '\uffff', '"', '\\', '\n', '\t', '#', ' '),
  }),
);

describe('a file with our mark', () => {
  it('means the same to a YAML reader as the config does, whatever characters are in it', () => {
    forAllOf(
      300,
      text,
      fc.dictionary(text, text, { noNullPrototype: true }),
      fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
      (one, map, number) => {
        const config = {
          ...TYPE,
          clusterDomain: one,
          evictionHard: map,
          memoryThrottlingFactor: number + 0,
          maxPods: 110,
        };
        const bytes = renderManaged(config);
        // As one that goes by the letter of YAML 1.1 has it, and as we do.
        assert.deepEqual({ ...parse(bytes.toString('utf8'), { version: '1.1', schema: 'core' }) }, config);
        assert.deepEqual({ ...decodeKubeletConfig(bytes).value }, config);
        assert.doesNotMatch(bytes.toString('utf8'), /[\u007f-\u009f\u2028\u2029\ufeff\uffff]/);
      },
    );
  });

  it('keeps it whatever an editor or a person does to the rest', () => {
    const ours = renderManaged({ maxPods: 50 }).toString('utf8');
    for (const edited of [
      ours,
      ours.replace('50', '60'),
      ours.replaceAll('\n', '\r\n'),
      `# a note\n${ours}`,
      `\ufeff${ours}`,
      ours.slice(0, ours.indexOf('{') + 5),
      `  ${ours}`,
    ]) {
      assert.ok(isMarked(Buffer.from(edited)), JSON.stringify(edited));
    }
  });

  it('is told from what others write', () => {
    for (const other of ['', '{}', 'maxPods: 50\n', '# by kubeadm\n', 'note: "# Managed by kubelet-gitops: no"\n']) {
      assert.equal(isMarked(Buffer.from(other)), false);
    }
  });
});
