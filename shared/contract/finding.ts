/** How bad: an error keeps a payload from being used, a warning is only shown. */
export type Severity = 'error' | 'warning';

/**
 * One thing that is wrong with a file, for the person who has to fix it. CI, reconciler and agent make the same ones,
 * because they run the same code.
 */
export interface Finding {
  /** Stable kebab-case word: `unknown-field`, `duplicate-key`, `out-of-range` … */
  readonly code: string;
  readonly severity: Severity;
  /** `security`: it is about what an attacker who may commit gains. Absent for everything else. */
  readonly kind?: 'security';
  /** What is wrong and why, one sentence, no trailing full stop. */
  readonly message: string;
  /** What to write instead, where that is known. */
  readonly suggestion?: string;
  /** Path from the root of the repository; absent where the bytes did not come from a file. */
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  /** 1-based, in characters. */
  readonly column?: number;
  /** Dotted path of the field: `evictionHard["memory.available"]`, `logging.verbosity`. */
  readonly field?: string;
  /** Kubelet minor versions that it holds for (`1.34`); absent if it holds for all. */
  readonly versions?: readonly string[];
}

/** `pools/gpu/kubelet.yaml:12:3: error unknown-field: … (did you mean …?)`, the form that editors and people know. */
export function formatFinding(finding: Finding): string {
  // Pipelines obey lines that begin with :: or ##.
  const file = printable(finding.file ?? '-').replace(/^(?=[:#])/, './');
  const at = [file, finding.line, finding.column].filter((part) => part !== undefined).join(':');
  return `${at}: ${finding.severity} ${finding.code}: ${sentenceOf(finding)}`;
}

/** Whether a line that `formatFinding` made only warns. A file may have any name: a line that could be an error as well is none. */
export const isWarningLine = (line: string): boolean =>
  /^[^:]*(?::\d+){0,2}: warning [a-z-]+: /.test(line) && !/: error [a-z-]+: /.test(line);

/** A finding without its place, severity and code. */
export function sentenceOf(finding: Finding): string {
  const versions = finding.versions === undefined ? '' : ` [kubelet ${finding.versions.join(', ')}]`;
  const suggestion = finding.suggestion === undefined ? '' : ` (${finding.suggestion})`;
  return cut(printable(`${subjectOf(finding)}${finding.message}${suggestion}${versions}`), LONGEST_SENTENCE);
}

/** A message may quote a file. What it goes into has limits: 32 KiB for a condition, a megabyte for an object. */
const LONGEST_SENTENCE = 1_500;

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;

/** What moves a terminal's cursor or turns the order of letters: files of others may be full of it. */
// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]/g;

const printable = (text: string): string =>
  text.replaceAll(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The field, where the message does not name it itself. */
function subjectOf({ field, message }: Finding): string {
  const name = field?.split('.').at(-1);
  return field === undefined || name === undefined || message.includes(name) ? '' : `${field}: `;
}

/** Whether anything keeps the payload from being used. */
export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some((finding) => finding.severity === 'error');
}

/** Each finding once: two clusters, the classes of a pool, and pools that use the same layer find the same. */
export const distinctFindings = (findings: readonly Finding[]): readonly Finding[] => [
  ...new Map(findings.map((finding) => [formatFinding(finding), finding])).values(),
];
