import { validateConfigFile } from '#cli/validate/validate-file.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { minorName } from '#shared/contract/kubelet-config/minor.ts';
import { effectOf } from '#shared/contract/kubelet-config/verdict.ts';

/** What we make of a file for one minor, in the terms in which a kubelet can be asked for the same. */
export interface OwnVerdict {
  readonly word: 'ok' | 'lenient' | 'reject';
  /** What keeps the kubelet from starting. */
  readonly refusing: readonly Finding[];
  /** What it starts without. */
  readonly dropping: readonly Finding[];
  /** What makes it exit after it took the file, unless flags or the machine see to it. */
  readonly late: readonly Finding[];
  /** As decoded; undefined where there is nothing to decode. */
  readonly config: Readonly<Record<string, unknown>> | undefined;
  readonly findings: readonly Finding[];
}

/** Codes that say of a config, or of what it leaves out, that the kubelet exits for it at its start. */
const LATE: ReadonlySet<string> = new Set(['fails-at-start', 'memory-not-equal', 'no-reserved-cpu']);

/** As `validate` judges it. */
export function ownVerdict(file: Uint8Array, minor: number): OwnVerdict {
  const { findings } = validateConfigFile('f', file, [minorName(minor)]);
  const { value } = decodeKubeletConfig(file, 'f');
  const refusing = findings.filter((finding) => effectOf(finding) === 'refuses');
  const dropping = findings.filter((finding) => effectOf(finding) === 'drops');
  return {
    word: value === undefined || refusing.length > 0 ? 'reject' : dropping.length > 0 ? 'lenient' : 'ok',
    refusing,
    dropping,
    late: findings.filter(({ code }) => LATE.has(code)),
    config: value,
    findings,
  };
}
