import assert from 'node:assert/strict';
import { readPool } from '#reconciler/policy/config-repo/read-pool.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import { decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';

/** A pool's spec, and what is wrong with it. @param spec as it stands in the file after `spec:` */
export function readSpec(spec: string) {
  const text = `apiVersion: kubelet-gitops.dev/v1alpha1\nkind: KubeletPool\nspec: ${spec}\n`;
  const { value, findings, positionOf } = decodeYaml(Buffer.from(text), 'pool.yaml');
  assert.deepEqual(findings, []);
  const report = fileReport('pool.yaml', positionOf);
  return { ...readPool(value, 'x', report), findings: report.findings };
}

/** What is wrong with a spec, shortened to `code field`. */
export const mistakesIn = (spec: string): readonly string[] =>
  readSpec(spec).findings.map(({ code, field }) => `${code} ${field ?? '-'}`);
