import type { Finding } from '#shared/contract/finding.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { checkJsonAsYaml } from '#shared/contract/kubelet-config/decode/json-as-yaml.ts';
import { minorName, minorNumber, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { firstFindings } from '#reconciler/policy/config-repo/reading-limits.ts';
import { configVerdict } from '#shared/contract/kubelet-config/verdict.ts';
import { validateReceiversFile } from './validate-receivers.ts';
import { judgeAlone } from './judge-alone.ts';
import { validateTemplateFile } from './validate-template.ts';
import { byPlace, type ValidatedFile } from './validation.ts';

/** The kubelets that a file is judged for by default. */
export const DEFAULT_VERSIONS: readonly string[] = [minorName(NEWEST_MINOR)];

/** One KubeletConfiguration, or one layer with computed values, as all that a kubelet gets; or the receivers of notifications. */
export function validateConfigFile(path: string, bytes: Uint8Array, versions: readonly string[]): ValidatedFile {
  const minors = versions.length === 0 ? DEFAULT_VERSIONS : versions;
  const computed = validateTemplateFile(path, bytes, minors);
  if (computed !== undefined) return computed;
  const receivers = validateReceiversFile(path, bytes);
  if (receivers !== undefined) return receivers;
  const { value, findings: written, positionOf } = decodeKubeletConfig(bytes, path);
  const judged: readonly Finding[] = value === undefined ? [] : judgeAlone(value, minors, { positionOf, file: path });
  const again = value === undefined ? [] : checkJsonAsYaml(bytes, minors, path);
  const all = [...written.flatMap(readBy(minors)), ...again, ...judged].sort(byPlace);
  const findings = firstFindings(all, path);
  const verdicts = minors.map((minor) => [minor, configVerdict(all, minor, value !== undefined)] as const);
  return { path, verdicts: Object.fromEntries(verdicts), findings };
}

/** A number that only JSON makes a fraction is nothing to a kubelet that drops the field it stands in. */
function readBy(minors: readonly string[]): (finding: Finding) => readonly Finding[] {
  return (finding) => {
    if (finding.code !== 'json-number') return [finding];
    const field = FIELDS.get((finding.field ?? '').replaceAll(/\[\d+\]/g, '[]'));
    const versions = minors.filter(
      (minor) => field === undefined || existsIn(field, minorNumber(minor) ?? NEWEST_MINOR),
    );
    if (versions.length === minors.length) return [finding];
    return versions.length === 0 ? [] : [{ ...finding, versions }];
  };
}
