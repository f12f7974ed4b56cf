import type { Finding } from '#shared/contract/finding.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { judgeSecondReading } from '#shared/contract/kubelet-config/decode/second-reading.ts';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { validateForVersions } from '#shared/contract/kubelet-config/validate-versions.ts';
import { configVerdict } from '#shared/contract/kubelet-config/verdict.ts';
import { byPlace, type JudgedFile } from './validation.ts';

/** What a file is judged by where nobody says for which kubelets it is. */
export const DEFAULT_VERSIONS: readonly string[] = [minorName(NEWEST_MINOR)];

/** One KubeletConfiguration, as all that a kubelet gets. */
export function judgeConfigFile(path: string, bytes: Uint8Array, versions: readonly string[]): JudgedFile {
  const minors = versions.length === 0 ? DEFAULT_VERSIONS : versions;
  const { value, findings: written, positionOf } = decodeKubeletConfig(bytes, path);
  const judged: readonly Finding[] =
    value === undefined ? [] : validateForVersions(value, minors, { positionOf, file: path });
  const again = value === undefined ? [] : judgeSecondReading(bytes, minors, path);
  const findings = [...written, ...again, ...judged].sort(byPlace);
  const verdicts = minors.map((minor) => [minor, configVerdict(findings, minor, value !== undefined)] as const);
  return { path, verdicts: Object.fromEntries(verdicts), findings };
}
