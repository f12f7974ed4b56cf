import type { Finding } from '../../finding.ts';
import { type Fraction, readJson, type Report } from './json.ts';
import { formatPath, lineIndex, type PositionOf, positionsIn, type Path } from '../position.ts';
import { abbreviateJson } from './abbreviate-json.ts';
import { DECRYPT, encryptedBy, hasConflict, isOfSops, wrapperAdvice } from './foreign-shapes.ts';
import { sourceText } from './source-text.ts';
import { readYaml } from './yaml/read-yaml.ts';
import { sameButCase } from '../syntax/did-you-mean.ts';
import type { FieldKind } from '../fields/field.ts';
import { FIELDS } from '../fields/fields.ts';

export const KUBELET_CONFIG_API_VERSION = 'kubelet.config.k8s.io/v1beta1';
export const KUBELET_CONFIG_KIND = 'KubeletConfiguration';

/** A file's value, and what is wrong with how it is written. */
export interface Decoded {
  /**
   * What the kubelet works with: whole numbers beyond 2^53 are `bigint`, of doubled keys the last counts. Absent where
   * nothing can be read. Present beside errors where the kubelet would go on and a person would not expect how.
   */
  readonly value?: unknown;
  readonly findings: readonly Finding[];
  readonly positionOf: PositionOf;
}

/** A file that holds a KubeletConfiguration. */
export interface DecodedKubeletConfig extends Decoded {
  readonly value?: Readonly<Record<string, unknown>>;
}

/** Everything that a text held. */
interface Opened extends Decoded {
  readonly fractions: readonly { readonly at: Fraction; readonly finding: Finding }[];
}

/**
 * Reads YAML, or JSON where the text starts with `{` (the kubelet draws the line there too). Errors are everything that
 * the kubelet does not take for YAML and everything that it and people read differently; each has its line and column.
 * For a file that no kubelet reads as it stands: what only a kubelet would say about merge keys is left out.
 *
 * @param file path for the findings
 */
export function decodeYaml(bytes: Uint8Array, file?: string): Decoded {
  const { fractions, findings, ...rest } = open(bytes, file);
  const ours = findings.filter(({ code }) => code !== 'merge-override');
  return { ...rest, findings: [...ours, ...fractions.map(({ finding }) => finding)].map(readByUs) };
}

/** It is read by the same rules, and the kubelet never sees it. */
const readByUs = (finding: Finding): Finding => ({
  ...finding,
  message: finding.message.replaceAll('the kubelet', 'kubelet-gitops'),
});

function open(bytes: Uint8Array, file: string | undefined): Opened {
  const nowhere = { positionOf: () => undefined, fractions: [] };
  const source = sourceText(bytes, file);
  if ('finding' in source) return { ...nowhere, findings: [source.finding] };
  const { text, isJson, broken } = source;
  const lines = lineIndex(text, file);
  const findings: Finding[] = [...source.findings];
  const made = (code: string, offset: number, message: string, suggestion?: string): Finding => {
    const extra = suggestion === undefined ? {} : { suggestion };
    return { code, severity: 'error', message, ...extra, ...lines.at(offset) };
  };
  const encrypted = (by: string): Opened => ({
    ...nowhere,
    findings: [made('wrong-kind', 0, `the file is encrypted with ${by}, and nobody decrypts it`, DECRYPT)],
  });
  const program = encryptedBy(text);
  if (program !== undefined) return encrypted(program);
  const isConflict = hasConflict(text);
  const report: Report = (code, offset, message, suggestion) => {
    const advice =
      isConflict && code.endsWith('-syntax') ? 'a merge conflict is left in the file: resolve it' : suggestion;
    findings.push(made(code, offset, message, advice));
  };
  if (!isJson) {
    const { read, readAhead } = readYaml(text, report);
    if (broken !== undefined && broken.from <= readAhead) return { ...nowhere, findings: [broken.finding] };
    if (read === undefined) return { ...nowhere, findings };
    if (isOfSops(read.value)) return encrypted('sops');
    return { value: read.value, findings, positionOf: positionsIn(read.marks, lines), fractions: [] };
  }
  const read = readJson(text, report);
  if (read === undefined) return { ...nowhere, findings };
  if (isOfSops(read.value)) return encrypted('sops');
  const fractions = read.fractions.map((at) => {
    const message = `in a JSON file the kubelet takes ${at.literal} for a fraction`;
    const finding = made('json-number', at.offset, message, `write ${Number(at.literal)}`);
    return { at, finding: { ...finding, field: formatPath(at.path) } };
  });
  return { value: read.value, findings, positionOf: positionsIn(read.marks, lines), fractions };
}

/** `decodeYaml` for a file that must hold a KubeletConfiguration of v1beta1, the only version that there is. */
export function decodeKubeletConfig(bytes: Uint8Array, file?: string): DecodedKubeletConfig {
  const { value, fractions, positionOf, ...opened } = open(bytes, file);
  const wholes = fractions.filter(({ at }) => existsAsWholeNumber(at.path));
  const findings = [...opened.findings, ...wholes.map(({ finding }) => finding)];
  if (value === undefined) return { findings, positionOf };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = 'the file has to be a map of fields, not a list or a single value';
    return { findings: [...findings, at(positionOf, [], { code: 'wrong-kind', message }, file)], positionOf };
  }
  const config = value as Readonly<Record<string, unknown>>;
  const wrong = wrongType(config, positionOf, file);
  const all = [...findings, ...wrong];
  // Type fields in another case are the one fault here that the kubelet lives with.
  const isRead = wrong.every(({ code }) => code === 'wrong-case');
  return isRead ? { value: config, findings: all, positionOf } : { findings: all, positionOf };
}

function wrongType(
  config: Readonly<Record<string, unknown>>,
  positionOf: PositionOf,
  file?: string,
): readonly Finding[] {
  const faults = Object.entries(WANTED).flatMap(([key, expected]) => {
    const written = config[key];
    if (written === expected) return [];
    const otherCase = written === undefined ? sameButCase(key, Object.keys(config)) : undefined;
    return [
      { key, expected, otherCase, found: written === undefined ? 'is missing' : `is ${abbreviateJson(written)}` },
    ];
  });
  const miscased = faults.flatMap(({ key, otherCase }) => {
    if (otherCase === undefined) return [];
    const wrongCase = { code: 'wrong-case', message: `${otherCase} is not ${key}`, suggestion: `write ${key}` };
    return [at(positionOf, [otherCase], { ...wrongCase, field: otherCase }, file)];
  });
  // A file of another kind altogether is one fault, not two.
  const wrong = faults.filter(({ otherCase }) => otherCase === undefined);
  const [first] = wrong;
  if (first === undefined) return miscased;
  const wrongKind = {
    code: 'wrong-kind',
    message: wrong.map(({ key, found }) => `${key} ${found}`).join(', and '),
    suggestion:
      wrapperAdvice(config) ?? `write ${wrong.map(({ key, expected }) => `${key}: ${expected}`).join(' and ')}`,
    field: first.key,
  };
  return [...miscased, at(positionOf, [first.key], wrongKind, file)];
}

const WANTED = { apiVersion: KUBELET_CONFIG_API_VERSION, kind: KUBELET_CONFIG_KIND };

function at(
  positionOf: PositionOf,
  path: readonly string[],
  finding: { code: string; message: string; suggestion?: string; field?: string },
  file: string | undefined,
): Finding {
  return { severity: 'error', ...finding, ...(file === undefined ? {} : { file }), ...positionOf(path) };
}

const WHOLE: readonly FieldKind[] = ['int32', 'int64', 'uint32', 'duration-or-nanoseconds'];

/** Whether a field of a KubeletConfiguration, or an item of one, takes whole numbers only. */
function existsAsWholeNumber(path: Path): boolean {
  const pattern = path.reduce<string>(
    (sum, step) => (typeof step === 'number' ? `${sum}[]` : sum === '' ? step : `${sum}.${step}`),
    '',
  );
  const kind = FIELDS.get(pattern)?.kind;
  if (kind !== undefined) return WHOLE.includes(kind);
  return FIELDS.get(pattern.replace(/\[\]$/, ''))?.kind === 'int32-list';
}
