import { redact } from '#shared/runtime/redact.ts';

/** What a line of the kubelet's log says, without its time and process; undefined for any other line. */
type Reading = { readonly complaint: 'error' | 'other'; readonly text: string } | undefined;

/** Different errors that are shown. */
export const MAX_ERRORS = 3;
const LONGEST_LINE = 280;

/** `E1122 15:27:13.502266      69 run.go:74] …`: errors and fatal errors of klog. */
const KLOG = /^([IWEF])\d{4} \S+ +\d+ ([^\]]+\] .*)$/s;
/** The same in JSON where the end of a long line is missing: a verbosity would stand behind the message. */
const CUT_JSON =
  /^\{"ts":[^",]*,(?:"logger":"[^"]*",)?(?:"caller":"([^"]*)",)?"msg":"((?:[^"\\]|\\.)*)"(?!,"v":),(?:"err":")?(.*)$/s;
/** As k0s passes on what its kubelet wrote (pkg/supervisor). */
const BY_K0S = /^time="[^"]*" level=info msg="((?:[^"\\]|\\.)*)" (?:chunk=\d+ )?component=kubelet stream=/;
/** What the Go runtime and the kubelet's command line write when they end the process. */
const ENDS = /^(?:panic: |fatal error: |Error: )/;
/** Of the traces that follow a panic, of the usage that follows a mistake in the flags, and of advice about flags. */
const TRAIL = /^(?:goroutine \d|created by |\s|$|[\w./*()-]+\(.*\)$|Usage:|--|Flag --)/;
const MOST_TESTED = 400;
/** Words with line breaks (`err=<` of klog, `yaml: unmarshal errors:`) go on in the indented lines below. */
const GOES_ON = /(?:=<|:)$/;
const INDENTED = /^\s/;
const MOST_BELOW = 8;

/** The last different errors of a log that is read backwards. */
export interface ErrorLines {
  /** Takes the line before those that it was given. @returns how many different errors there are now */
  readonly add: (line: string) => number;
  /**
   * The errors until now, the newest first, fit to be shown. Where there is none, the last lines that a kubelet would not write:
   * those of what starts it.
   */
  readonly lines: () => readonly string[];
}

export function createErrorLines(): ErrorLines {
  const errors = new Set<string>();
  const others = new Set<string>();
  let below: readonly string[] = [];
  return {
    add(written) {
      const [, passedOn] = BY_K0S.exec(written) ?? [];
      const line = passedOn?.replace(/\\(.)/g, (_, sign) => (sign === 't' ? '\t' : sign)) ?? written;
      if (INDENTED.test(line)) {
        below = [line, ...below].slice(0, MOST_BELOW);
        return errors.size;
      }
      const reading = readLine(line);
      const found = reading?.complaint === 'error' ? errors : others;
      const more = GOES_ON.test(line) ? below : [];
      below = [];
      const text = reading === undefined || found.size >= MAX_ERRORS ? '' : shown([reading.text, ...more].join('\n'));
      if (text !== '') found.add(text);
      return errors.size;
    },
    lines: () => [...(errors.size > 0 ? errors : others)],
  };
}

function readLine(line: string): Reading {
  const [, severity, text] = KLOG.exec(line) ?? [];
  if (severity !== undefined) return 'EF'.includes(severity) ? { complaint: 'error', text: text ?? '' } : undefined;
  if (ENDS.test(line)) return { complaint: 'error', text: line };
  if (line.startsWith('{')) return readJson(line);
  return TRAIL.test(line.slice(0, MOST_TESTED)) ? undefined : { complaint: 'other', text: line };
}

/** With `logging.format: json`. Only errors have no verbosity (component-base/logs/json). */
function readJson(line: string): Reading {
  try {
    const { v, caller, msg, err } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (v !== undefined) return undefined;
    const parts = [caller, msg, err].filter((part) => typeof part === 'string');
    return { complaint: 'error', text: parts.join(': ') };
  } catch {
    const [, caller, msg, err] = CUT_JSON.exec(line) ?? [];
    // Cut off early: whether it is an error is unknown.
    return msg === undefined ? undefined : { complaint: 'error', text: [caller, msg, err].filter(Boolean).join(': ') };
  }
}

/** Redacted before it is cut: half a secret is not recognised. */
function shown(text: string): string {
  const plain = redact(text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+ */gu, ' ')).trim();
  return plain.length <= LONGEST_LINE ? plain : `${plain.slice(0, LONGEST_LINE - 1)}…`;
}
