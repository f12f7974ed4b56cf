import { formatPath } from '#shared/contract/kubelet-config/position.ts';
import { type DeniedField, DENIED_BY_DEFAULT, deniedFields } from '#shared/contract/kubelet-config/field-policy.ts';
import { changedFields } from '#shared/contract/kubelet-config/kept-fields.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import type { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import type { Finding } from '#shared/contract/finding.ts';
import type { Failure, FailureReason } from '../decide/failure.ts';
import { firstPhrases } from '../decide/first-phrases.ts';
import type { Installer } from '../ports/installer.ts';
import type { Config } from '../decide/state.ts';
import type { CheckWritable } from '../kubelet/check-writable.ts';
import { CODES_OF_PODS, PODS_CODE, TRANSIENT_CODE, type Preflight } from '../ports/preflight.ts';

export type Validate = typeof validateKubeletConfig;

export interface Checks {
  readonly installer: Pick<Installer, 'plan'>;
  readonly validate: Validate;
  readonly preflight: Preflight;
  /** Left out, the check is skipped. */
  readonly checkWritable?: CheckWritable | undefined;
  /** Whether pods are yet to be told to leave for it. */
  readonly beforeDrain?: boolean;
  /** Fields that no config may set on this node, whatever the cluster says; `default`: those that are denied by default. */
  readonly denyFields?: readonly string[];
}

export type Checked = { readonly failure: Failure } | { readonly warnings: readonly string[] };

/**
 * Everything that can be found wrong with a payload before the kubelet reads it: by itself, together with the node's own
 * config, and on this machine. What is wrong with the node's own config alone is not the payload's fault.
 *
 * @param minor the kubelet's version: `v1.34.2`
 * @returns why it must not reach the kubelet (`isTransientDiskError`: not now), or the warnings about it on this machine
 * @throws `INSTALL_*` if it cannot be installed
 */
export async function checkConfig(
  config: Config,
  payload: string,
  minor: string,
  { installer, validate, preflight, checkWritable, denyFields = [], beforeDrain = false }: Checks,
): Promise<Checked> {
  const { value, findings } = decodeKubeletConfig(Buffer.from(payload, 'utf8'));
  const unreadable = failureFrom('ConfigInvalid', findings);
  if (unreadable !== undefined || value === undefined) return { failure: unreadable ?? NOT_READABLE };

  const allow = denyFields.includes('default') ? [] : config.allowFields;
  const denied = deniedFields(value, { allow, deny: denyFields });
  if (denied.length > 0) return { failure: { reason: 'FieldDenied', message: firstPhrases(denied.map(sayDenied)) } };
  const { tolerate } = config;
  const own = validate(value, { minor, apply: config.apply, tolerate });
  const { apply, keepFields, base } = config;
  const installable = { payload, apply, keepFields, ...(base === undefined ? {} : { base }) };
  const { effective, files } = await installer.plan(installable);
  const taken = await takenFromNode(effective, minor, denyFields, installer);
  if (taken.length > 0) return { failure: { reason: 'FieldDenied', message: firstPhrases(taken.map(sayTaken)) } };
  await checkWritable?.(files);
  const hasOwn = config.apply === 'overlay' || keepFields.length > 0;
  const together = hasOwn ? validate(effective, { minor, tolerate }) : [];
  const local = together.length === 0 ? [] : validate(await localConfig(installer), { minor, tolerate });
  const wrong = [...own, ...together.filter((finding) => !local.some((other) => keyOf(other) === keyOf(finding)))];
  const invalid = failureFrom(
    'ConfigInvalid',
    wrong.filter(({ code }) => !ASKED_WITH_FLAGS.has(code)),
  );
  if (invalid !== undefined) return { failure: invalid };
  const found = await preflight(effective, minor, { payload: value, apply: config.apply });
  const onHost = found.filter(({ code }) => !(beforeDrain && CODES_OF_PODS.has(code)));
  const failure = failureFrom('PreflightFailed', onHost);
  if (failure === undefined) return { warnings: warningsIn(onHost) };
  const passes = onHost.every(
    ({ severity, code }) => severity !== 'error' || [TRANSIENT_CODE, PODS_CODE].includes(code),
  );
  return { failure: passes ? { ...failure, mayPass: true } : failure };
}

/** What preflight asks as well, and better: it knows what the kubelet's flags reserve. */
const ASKED_WITH_FLAGS: ReadonlySet<string> = new Set(['no-reserved-cpu', 'memory-not-equal']);

/** Of the node's own config, what may not be set here and would be another value all the same: a config that takes its place leaves it out. */
async function takenFromNode(
  effective: Readonly<Record<string, unknown>>,
  minor: string,
  denyFields: readonly string[],
  installer: Checks['installer'],
): Promise<readonly string[]> {
  if (denyFields.length === 0) return [];
  const denied = denyFields.flatMap((field) => (field === 'default' ? Object.keys(DENIED_BY_DEFAULT) : [field]));
  return changedFields(await localConfig(installer), effective, denied, minor);
}

const sayTaken = (field: string): string =>
  `${field} of the node's own config would get another value, and DENY_FIELDS of the agent denies that`;

const sayDenied = ({ path, why }: DeniedField): string => `${formatPath(path)} may not be set on this node: ${why}`;

const NOT_READABLE: Failure = { reason: 'ConfigInvalid', message: 'the payload is not a KubeletConfiguration' };

async function localConfig(installer: Checks['installer']): Promise<Readonly<Record<string, unknown>>> {
  return (await installer.plan(null)).effective;
}

const keyOf = ({ code, field, message }: Finding): string => `${code} ${field ?? ''} ${message}`;

function failureFrom(reason: FailureReason, findings: readonly Finding[]): Failure | undefined {
  const errors = new Map(findings.filter(({ severity }) => severity === 'error').map((each) => [keyOf(each), each]));
  return errors.size === 0 ? undefined : { reason, message: firstPhrases([...errors.values()].map(sentence)) };
}

const warningsIn = (findings: readonly Finding[]): readonly string[] => [
  ...new Set(findings.filter(({ severity }) => severity === 'warning').map(sentence)),
];

function sentence({ field, message, suggestion }: Finding): string {
  const where = field === undefined || message.includes(field) ? '' : `${field}: `;
  return `${where}${message}${suggestion === undefined ? '' : ` (${suggestion})`}`;
}
