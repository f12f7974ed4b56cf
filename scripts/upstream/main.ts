import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { defaultOf, existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import { valueAt } from '#shared/contract/kubelet-config/config-view.ts';
import { gateTables, goneNeeds, type KubeletGate } from './gate-tables.ts';

/**
 * What a kubelet knows and our tables do not: `npm run upstream -- 1.38`. It asks the kubelet's own code, from the Go modules of that minor
 * (`test/support/go-programs/new-minor.sh 1.38.1` makes them), and prints one edit a line. Exit code 1 where there are any. With `--write`
 * it writes the tables of feature gates itself.
 */
const GATE_TABLES = 'shared/contract/kubelet-config/feature-gates/gates.generated.ts';

const isEmpty = (value: unknown): boolean =>
  [0, false, '', null].includes(value as null) ||
  isDeepStrictEqual(value, []) ||
  isDeepStrictEqual(value, {}) ||
  value === '0s';

const nanoseconds = (text: string): string => {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|us|ns)/g)];
  const size: Readonly<Record<string, number>> = { h: 3600e9, m: 60e9, s: 1e9, ms: 1e6, us: 1e3, ns: 1 };
  return parts.length === 0
    ? ''
    : String(parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (size[unit] ?? 0), 0));
};

const {
  values,
  positionals: [asked = ''],
} = parseArgs({ allowPositionals: true, options: { write: { type: 'boolean' } } });
const minor = minorNumber(asked);
if (minor === undefined) {
  console.error('usage: npm run upstream -- MINOR [--write], for example 1.38');
  process.exit(2);
}

const programs = join(import.meta.dirname, '../../test/support/go-programs');
const directory = execFileSync(join(programs, 'build.sh'), [`kubernetes-1.${minor}`, 'oracle'], {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
}).trim();
const ask = (command: string, input = ''): unknown =>
  JSON.parse(execFileSync(join(directory, 'oracle'), [command], { input, encoding: 'utf8', maxBuffer: 2 ** 26 }));

const edits = [...fieldEdits(), ...defaultEdits(), ...gateEdits()];
for (const edit of edits) console.log(edit);
console.log(
  edits.length === 0
    ? `The tables agree with the kubelet of 1.${minor}.`
    : `\n${edits.length} edits. Rules are not among them: compare pkg/kubelet/apis/config/validation of both minors.`,
);
process.exitCode = edits.length === 0 ? 0 : 1;

function fieldEdits(): readonly string[] {
  const theirs = ask('fields') as Readonly<Record<string, string>>;
  const missing = Object.entries(theirs)
    .filter(([path]) => !existsAt(path))
    .map(([path, type]) => `fields: add ${path}, ${type}, since: ${minor}`);
  const gone = [...FIELDS]
    .filter(([path, field]) => existsIn(field, minor ?? 0) && theirs[path] === undefined)
    .map(([path]) => `fields: ${path} went: until: ${(minor ?? 0) - 1}`);
  return [...missing, ...gone];
}

function existsAt(path: string): boolean {
  const field = FIELDS.get(path);
  return field !== undefined && existsIn(field, minor ?? 0);
}

/** Of what a config that says nothing becomes. What rests on the machine or on other fields is not in the table. */
function defaultEdits(): readonly string[] {
  const text = Buffer.from('apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n').toString(
    'base64',
  );
  const { effective } = ask('verdicts', `${JSON.stringify({ text })}\n`) as {
    readonly effective: Readonly<Record<string, unknown>>;
  };
  return [...FIELDS].flatMap(([path, field]) => {
    const known = defaultOf(field, minor ?? 0);
    if (path.includes('[]') || !existsIn(field, minor ?? 0) || field.gate !== undefined) return [];
    const theirs = valueAt(effective, path);
    if (known === undefined ? theirs === undefined || isEmpty(theirs) || field.kind === 'struct' : alike(known, theirs))
      return [];
    return [`fields: the default of ${path} is ${JSON.stringify(theirs)}, and ${JSON.stringify(known)} here`];
  });
}

/** Durations are written in more than one way, and zero may be left out. */
function alike(ours: unknown, theirs: unknown): boolean {
  if (isDeepStrictEqual(ours, theirs) || (theirs === undefined && isEmpty(ours))) return true;
  // Up to 1.27, one of them is a number of nanoseconds.
  if (typeof ours === 'string' && typeof theirs === 'number') return nanoseconds(ours) === String(theirs);
  return (
    typeof ours === 'string' &&
    typeof theirs === 'string' &&
    nanoseconds(ours) === nanoseconds(theirs) &&
    nanoseconds(ours) !== ''
  );
}

/** Lines of the generated tables that would be others. */
function gateEdits(): readonly string[] {
  const theirs = ask('gates') as Readonly<Record<string, KubeletGate>>;
  const [now, wanted] = [readFileSync(GATE_TABLES, 'utf8'), gateTables(minor ?? 0, theirs)];
  if (values.write === true) writeFileSync(GATE_TABLES, wanted);
  const known = new Set(now.split('\n'));
  const changed = values.write === true ? [] : wanted.split('\n').filter((line) => !known.has(line));
  return [
    ...changed.map((line) => `gates, which --write writes: ${line.trim()}`),
    ...goneNeeds(minor ?? 0, theirs).map((need) => `gates: ${need} no longer`),
  ];
}
