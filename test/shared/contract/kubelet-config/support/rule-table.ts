import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';

const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

/**
 * A rule of the kubelet, the smallest config that breaks it, what is to be found (`''`: nothing), and the version, 1.34 unless it says
 * another. Found is a code, and where: `conflict` is about the first field of the config, `conflict [1].a` about a part of that field, and
 * `conflict maxPods` about another one.
 */
type Row = readonly [rule: string, text: string, found: string, minor?: string];

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
    for (const [rule, text, found, minor = '1.34'] of rows) {
      const [first] = text.split(':');
      const expected = found.replaceAll(/([^ ,]+)(?: ([^,]+))?/g, (_, code: string, at = '') =>
        /^\w/.test(at as string) ? `${code} ${at}` : `${code} ${first}${at}`,
      );
      it(`${rule} (${minor}: ${text.replaceAll('\n', '; ')})`, () => assert.equal(said(text, minor, apply), expected));
    }
  });
}
