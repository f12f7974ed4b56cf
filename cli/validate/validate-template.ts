import { DEFAULT_TRIAL } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPoolSpec } from '#shared/contract/api/kubelet-pool.ts';
import { type Finding, hasErrors } from '#shared/contract/finding.ts';
import {
  decodeYaml,
  KUBELET_CONFIG_API_VERSION,
  KUBELET_CONFIG_KIND,
} from '#shared/contract/kubelet-config/decode/decode.ts';
import { configVerdict } from '#shared/contract/kubelet-config/verdict.ts';
import { templateOf } from '#reconciler/policy/templates/template.ts';
import { judgeOnExamples } from '#reconciler/policy/config-repo/example-machines.ts';
import { COMPUTED_KIND, type ComputedLayer, readComputed } from '#reconciler/policy/config-repo/read-computed.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import { firstFindings } from '#reconciler/policy/config-repo/reading-limits.ts';
import { judgeAlone } from './judge-alone.ts';
import { byPlace, type ValidatedFile } from './validation.ts';
import { isMap } from '#shared/runtime/maps.ts';

/**
 * One layer with computed values, as if it were all that a kubelet gets, on machines of several sizes. Undefined for a file of another
 * kind.
 *
 * @param minors of the kubelets
 */
export function validateTemplateFile(
  path: string,
  bytes: Uint8Array,
  minors: readonly string[],
): ValidatedFile | undefined {
  const { value, findings: written, positionOf } = decodeYaml(bytes, path);
  if (!isMap(value) || value['kind'] !== COMPUTED_KIND) return undefined;
  const report = fileReport(path, positionOf);
  const layer = readComputed(value, report, positionOf);
  const said = [...written, ...report.findings];
  const all = [...said, ...(hasErrors(said) ? [] : onMachines(path, layer, minors))].sort(byPlace);
  const verdicts = minors.map((minor) => [minor, configVerdict(all, minor)] as const);
  return { path, verdicts: Object.fromEntries(verdicts), findings: firstFindings(all, path) };
}

/** A pool of this layer alone. */
const SPEC: KubeletPoolSpec = {
  nodeSelector: {},
  priority: 0,
  layers: [],
  apply: 'overlay',
  drift: 'repair',
  rollout: { maxUnavailable: 1, soak: '0s', onFailure: { threshold: 1, action: 'halt' } },
  trial: DEFAULT_TRIAL,
};

function onMachines(file: string, layer: ComputedLayer, minors: readonly string[]): readonly Finding[] {
  const { positionOf } = layer;
  const value = { ...layer.value, apiVersion: KUBELET_CONFIG_API_VERSION, kind: KUBELET_CONFIG_KIND };
  const template = templateOf(value, layer.leaves, SPEC.apply);
  if (template === undefined) return [];
  const nameless = { name: '', payload: '', sha256: '', configName: '', findings: [] };
  const pool = { status: 'valid', ...nameless, spec: SPEC, value, positionOf, file, template } as const;
  return judgeOnExamples(pool, (config) => judgeAlone(config, minors, { apply: SPEC.apply, positionOf, file }));
}
