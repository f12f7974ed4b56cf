import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';

const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/** A rule of the kubelet, the smallest config that breaks it, the version, and what is to be found (`''`: nothing). */
type Row = readonly [rule: string, text: string, minor: string, found: string];

function said(text: string, minor: string, apply: ApplyMode): string {
  const { value, findings } = decodeKubeletConfig(Buffer.from(HEADER + text));
  assert.deepEqual(findings, []);
  return validateKubeletConfig(value, { minor, apply })
    .map(({ code, field, severity }) => `${severity === 'warning' ? '?' : ''}${code} ${field}`)
    .join(', ');
}

/** A test for each row: what is found in a config of one version. */
export function rules(title: string, rows: readonly Row[], apply: ApplyMode = 'replace'): void {
  describe(title, () => {
    for (const [rule, text, minor, found] of rows) {
      it(`${rule} (${minor}: ${text.replaceAll('\n', '; ')})`, () => assert.equal(said(text, minor, apply), found));
    }
  });
}
