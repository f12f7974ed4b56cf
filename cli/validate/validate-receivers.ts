import { decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { firstFindings } from '#reconciler/policy/config-repo/reading-limits.ts';
import { judgeReceivers, RECEIVERS_KIND } from '#reconciler/reporting/notifications/receivers.ts';
import { isMap } from '#shared/runtime/maps.ts';
import { byPlace, type ValidatedFile } from './validation.ts';

/** The file that the reconciler's NOTIFICATIONS_FILE names. Undefined for a file of another kind. */
export function validateReceiversFile(path: string, bytes: Uint8Array): ValidatedFile | undefined {
  const { value } = decodeYaml(bytes, path);
  if (!isMap(value) || value['kind'] !== RECEIVERS_KIND) return undefined;
  const findings = [...judgeReceivers(bytes, path).findings].sort(byPlace);
  return { path, verdicts: {}, findings: firstFindings(findings, path) };
}
