import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Finding, formatFinding } from '#shared/contract/finding.ts';
import { decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { codeOf, GitopsError } from '#shared/runtime/errors.ts';
import { fileReport } from '../../policy/config-repo/file-report.ts';
import { readBySchema } from '../../policy/config-repo/read-by-schema.ts';
import { MOST_SEVERE, type Notification, rankOf, type Severity } from './notification.ts';
import * as receiversFile from './receivers-file.generated.js';

/** Who is told of what, and how. Paths are absolute. */
export interface Receiver {
  readonly name: string;
  readonly type: 'cloudevents' | 'slack';
  /** What it holds is read at every use, and never shown. */
  readonly urlFile: string;
  /** Of the key that signs; there for `cloudevents`. */
  readonly keyFile?: string;
  readonly caFile?: string;
  readonly plainHttp: boolean;
  /** Names, `*` for any characters; absent for all, and for what is about no pool. */
  readonly pools?: readonly string[];
  readonly severity: Severity;
  readonly kinds?: readonly Notification['kind'][];
}

export interface Receivers {
  readonly receivers: readonly Receiver[];
  /** Where the pages of runbooks are; absent where nobody says. */
  readonly runbooksUrl?: string;
}

/** Once, at the start. @throws GitopsError `NOTIFICATIONS_INVALID`, which names every mistake in the file at once */
export function loadReceivers(file: string): Receivers {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw invalid(file, [`it cannot be read (${codeOf(error) ?? 'for an unknown reason'})`]);
  }
  return readReceivers(bytes, file);
}

/** The same of what was read. Pure. */
export function readReceivers(bytes: Uint8Array, file: string): Receivers {
  const { receivers, findings } = judgeReceivers(bytes, file);
  if (receivers === null) throw invalid(file, findings.map(formatFinding));
  return receivers;
}

/** The kind of such a file. */
export const RECEIVERS_KIND = 'NotificationReceivers';

interface JudgedReceivers {
  /** null where anything is wrong. */
  readonly receivers: Receivers | null;
  readonly findings: readonly Finding[];
}

/** All that is wrong with such a file, and what it says if nothing is. Pure. */
export function judgeReceivers(bytes: Uint8Array, file: string): JudgedReceivers {
  const { value, findings: written, positionOf } = decodeYaml(bytes, file);
  const report = fileReport(file, positionOf);
  const read = value === undefined ? null : readBySchema<receiversFile.ReceiversFile>(receiversFile, value, report);
  const all = read?.value.spec.receivers ?? [];
  all.forEach((receiver, index) => {
    const { name, type, keyFile } = receiver;
    const at = ['spec', 'receivers', index];
    if (all.findIndex((other) => other.name === name) !== index)
      report.error('bad-text', [...at, 'name'], `there are two receivers with the name ${name}`, 'give each its own');
    if (type === 'cloudevents' && keyFile === undefined)
      report.error('missing-field', at, `the receiver ${name} has no keyFile`, 'CloudEvents are signed: name its file');
    if (type === 'slack' && keyFile !== undefined)
      report.error(
        'no-effect',
        [...at, 'keyFile'],
        `the receiver ${name} has a keyFile, and nothing is signed for slack`,
        'leave it out, or write type: cloudevents',
      );
    const never = whyNever(receiver);
    if (never !== null)
      report.error('no-effect', at, `nothing is ever sent to the receiver ${name}: ${never}`, 'ask for more');
  });
  const findings = [...written, ...report.findings];
  if (read === null || findings.length > 0) return { receivers: null, findings };
  const placed = (path: string): string => resolve(dirname(file), path);
  const { runbooksUrl } = read.value.spec;
  const receivers = all.map(({ urlFile, keyFile, caFile, ...rest }) => ({
    ...rest,
    urlFile: placed(urlFile),
    ...(keyFile === undefined ? {} : { keyFile: placed(keyFile) }),
    ...(caFile === undefined ? {} : { caFile: placed(caFile) }),
  }));
  return { receivers: { ...(runbooksUrl === undefined ? {} : { runbooksUrl }), receivers }, findings };
}

/** Why a receiver that asks for this gets nothing, whatever happens; null where it may. */
function whyNever({ kinds, pools, severity }: Pick<Receiver, 'kinds' | 'pools' | 'severity'>): string | null {
  if (kinds === undefined) return null;
  const ofPools = pools === undefined ? kinds : kinds.filter((kind) => kind !== 'follows');
  if (ofPools.length === 0) return 'follows is about no pool';
  if (ofPools.some((kind) => rankOf(MOST_SEVERE[kind]) >= rankOf(severity))) return null;
  const most = [...new Set(ofPools)].map((kind, index) => `${kind} ${index === 0 ? 'is ' : ''}${MOST_SEVERE[kind]}`);
  return `${most.join(' and ')} at most`;
}

/** A file of something else has a mistake in every line. */
const MOST_MISTAKES = 50;

function invalid(file: string, why: readonly string[]): GitopsError {
  const more = why.length - MOST_MISTAKES;
  const all = [...why.slice(0, MOST_MISTAKES), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  return new GitopsError('NOTIFICATIONS_INVALID', `the receivers of notifications in ${file} cannot be used: ${all}`);
}

/** Whether the receiver asked for this. One that names pools gets nothing of the repository. */
export function wants({ pools, severity, kinds }: Receiver, told: Notification): boolean {
  if (rankOf(told.severity) < rankOf(severity)) return false;
  if (kinds !== undefined && !kinds.includes(told.kind)) return false;
  return pools === undefined || told.pools.some((name) => pools.some((pattern) => matches(pattern, name)));
}

/** `*` stands for any characters. In linear time, whatever the pattern. */
export function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return name === first;
  const last = rest.pop() ?? '';
  if (!name.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
}
