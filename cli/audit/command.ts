import { join } from 'node:path';
import { stringify } from 'yaml';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { LoadedRepo } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { AUDIT_CONFIG_MAP } from '#shared/contract/audit-summary.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';
import { firstFew } from '#shared/runtime/first-few.ts';
import { counted } from '../import/format-lists.ts';
import { FEWEST_DAYS } from './sections/room.ts';
import { chooseCluster } from '../choose-cluster.ts';
import { type Command, type ExitCode, type Given, UsageError } from '../command.ts';
import { connectTo } from '../connect-cluster.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS, folderOf, PATH_OPTION, VERSION_OPTION, wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { readAtMost } from '../read-at-most.ts';
import { readDirectory } from '../revision/read-directory.ts';
import { wrapFor } from '../wrap.ts';
import { type AuditReport, SECTION_IDS, type SectionId, SEVERITIES } from './audit-report.ts';
import { compareReports, parseReport } from './compare-reports.ts';
import { isFailed, makeReport } from './make-report.ts';
import { publishReport } from './publish-report.ts';
import { nodesFromCluster } from './read/nodes-from-cluster.ts';
import { nodesFromFiles } from './read/nodes-from-files.ts';
import { readUseOverDays } from './read/use-over-days.ts';
import { RENDERERS } from './render/renderers.ts';
import { reportAsText } from './render/report-as-text.ts';

const FORMATS = ['text', 'json', 'yaml', 'markdown', 'html', 'sarif', 'junit'] as const;
const FAIL_ON = [...SEVERITIES, 'never'] as const;

/** Each with the nodes that it holds for. */
const MOST_REASONS = 8;
/** A report of 5,000 nodes that all fail everything has some ten. */
const MOST_REPORT_BYTES = 128 * 1024 * 1024;

export const AUDIT: Command = {
  name: 'audit',
  summary: 'says what kubelets run, whether it is safe, survives upgrades and leaves room; changes nothing',
  takes: '[FILE|DIRECTORY|NODE=FILE|-]...',
  mostWords: 10_000,
  about: [
    'Reads only (but for --publish), and needs neither an agent nor a repository. Asks each kubelet of a cluster what it runs, or takes files as\n' +
      'import does. Sections: sameness, safety (the kubelet checks of the CIS Benchmark and the NSA/CISA guide, and more),\n' +
      'upgrades, room, and with --repo drift. docs/audit.md says what each check means.',
    'Through the API server this needs get on nodes/proxy, with which one can run commands in every pod: do not grant it for\n' +
      'this. --direct asks the kubelets’ own port: from 1.33 on, get on nodes/configz and nodes/stats is enough.',
    'Exit code 0: no check failed, of the severity of --fail-on or worse, and no node was left out but those that are not\n' +
      'Ready. 1: some did (with --since, only what is new counts), or a node could not be seen. 2: it could not run, or saw\n' +
      'no node. With --fail-on never, 0 instead of 1.',
  ],
  options: {
    inventory: {
      type: 'string',
      value: 'FILE',
      about: 'nodes, as kubectl get nodes -o json prints them; with files only',
    },
    'kubelet-version': {
      ...VERSION_OPTION['kubelet-version'],
      about: 'version of the kubelets where files and inventory do not say it',
    },
    section: {
      type: 'string',
      multiple: true,
      words: SECTION_IDS,
      about: 'only this section; can be given several times',
    },
    direct: { type: 'boolean', about: 'ask kubelets on their own port; their certificates must be the cluster’s' },
    prometheus: { type: 'string', value: 'URL', about: 'for room: the 99th percentile of a week, by the label node' },
    repo: { type: 'string', value: 'DIRECTORY', about: 'for drift: a checkout of the config repository' },
    ...PATH_OPTION,
    cluster: { type: 'string', value: 'NAME', about: 'with --repo: the cluster whose clusters/NAME.yaml counts' },
    since: { type: 'string', value: 'FILE', about: 'an earlier report of -o json: says what is new and what is gone' },
    'fail-on': {
      type: 'string',
      words: FAIL_ON,
      about: 'the least severity with which the exit code is 1 (default low)',
    },
    publish: {
      type: 'boolean',
      about: `write it into the ConfigMap ${AUDIT_CONFIG_MAP} of --namespace, for metrics, status page and doctor`,
    },
    ...CLUSTER_OPTIONS,
    output: {
      type: 'string',
      short: 'o',
      words: FORMATS,
      about: 'for people (text, the default, markdown, html) or for programs',
    },
  },
  examples: [
    'kubelet-gitops audit --context prod',
    'kubelet-gitops audit configs --inventory nodes.json --fail-on high',
    'kubelet-gitops audit --context prod -o html > audit.html',
    'kubelet-gitops audit --context prod -o json --since last.json > now.json',
  ],
  run: runAudit,
};

async function runAudit(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  const failOn = wordOf(given, 'fail-on', FAIL_ON, 'low');
  const sections = sectionsOf(given);
  const isFiles = given.words.length > 0;
  if (isFiles && given.flag('direct')) throw new UsageError('--direct asks a cluster: leave the files out');
  if (isFiles && given.flag('publish'))
    throw new UsageError('--publish is for the audit of a cluster: leave the files out');
  refuseIdle(given, isFiles);
  const before = await earlierReport(given);
  const repo = await repositoryOf(given, io);
  const url = given.text('prometheus');
  const overDays = url === undefined ? new Map<string, never>() : await readUseOverDays(url);
  const found = isFiles
    ? await nodesFromFiles(given, io)
    : await nodesFromCluster(given, io, sections.includes('room'));
  if (found.nodes.length === 0) throw nothingSeen(found);
  const known = found.nodes.filter(({ name }) => overDays.has(name)).length;
  const note = `Prometheus has ${FEWEST_DAYS} days or more of ${known} of ${counted(found.nodes.length, 'node')}.`;
  const source = { ...found.source, notes: [...found.source.notes, ...(url === undefined ? [] : [note])] };
  const made = makeReport({ ...found, source }, { now: systemClock.now(), sections, repo, overDays });
  const report = before === undefined ? made : { ...made, since: compareReports(before, made) };
  io.out.write(asText(report, format, io));
  if (given.flag('publish')) await publish(report, given, io);
  return isFailed(report, failOn === 'never' ? undefined : failOn) ? 1 : 0;
}

/** An option that changes nothing is a mistake: its user reads the report for another one. */
function refuseIdle(given: Given, isFiles: boolean): void {
  const isGiven = (option: string): boolean => given.texts(option).length > 0 || given.text(option) !== undefined;
  const [withFiles, alone] = [
    ['inventory', 'kubelet-version'],
    ['context', 'kubeconfig'],
  ];
  const idle = (isFiles ? alone : withFiles)?.find(isGiven);
  if (idle !== undefined)
    throw new UsageError(
      isFiles
        ? `--${idle} names a cluster: leave it out, or the files`
        : `--${idle} goes with files: a cluster says itself which nodes and versions it has`,
    );
  const lost = given.text('repo') === undefined ? ['cluster', 'path'].find(isGiven) : undefined;
  if (lost !== undefined) throw new UsageError(`--${lost} goes with --repo`);
}

async function publish(report: AuditReport, given: Given, io: Io): Promise<void> {
  const fits = await publishReport(await connectTo(given, io), given.text('namespace') ?? DEFAULT_NAMESPACE, report);
  if (!fits) io.err.write(`the report is too long for the ConfigMap ${AUDIT_CONFIG_MAP}: only its summary is there\n`);
}

function sectionsOf(given: Given): readonly SectionId[] {
  const words = given.texts('section');
  const unknown = words.find((word) => !SECTION_IDS.some((id) => id === word));
  if (unknown !== undefined) throw new UsageError(`--section ${unknown}: choose of ${SECTION_IDS.join(', ')}`);
  const needsRepo = words.includes('drift') && given.text('repo') === undefined;
  if (needsRepo) throw new UsageError('--section drift needs --repo');
  return words.length === 0 ? SECTION_IDS : SECTION_IDS.filter((id) => words.includes(id));
}

async function earlierReport(given: Given): Promise<AuditReport | undefined> {
  const file = given.text('since');
  if (file === undefined) return undefined;
  const refuse = (why: string): GitopsError => new GitopsError('NO_AUDIT', `${file} cannot be read: ${why}`);
  const bytes = await readAtMost(file, MOST_REPORT_BYTES).catch((error: unknown) => {
    throw refuse(reasonOf(error));
  });
  if (bytes === undefined) throw refuse(`it has more than ${MOST_REPORT_BYTES / 1024 / 1024} MiB`);
  return parseReport(bytes.toString('utf8'), file);
}

async function repositoryOf(given: Given, io: Io): Promise<LoadedRepo | undefined> {
  const directory = given.text('repo');
  if (directory === undefined) return undefined;
  const folder = folderOf(given);
  const { files, findings } = await readDirectory(directory, { folder });
  const repo = loadRepo(files, {
    cluster: chooseCluster(given, files.keys(), io.err, folder),
    gitFindings: findings,
    folder,
  });
  if (repo.pools.length > 0) return repo;
  throw new GitopsError('NO_FOLDER', `${join(directory, folder)} has no pools/: name the root of a config repository`);
}

function nothingSeen({ unseen }: { readonly unseen: AuditReport['unseen'] }): GitopsError {
  const why = unseen.map(
    ({ nodes, because, right }) =>
      `${firstFew(nodes)}: ${because}${right === undefined ? '' : ` (the right ${right} is missing)`}`,
  );
  const way = unseen.some(({ reason }) => reason === 'forbidden')
    ? '. Do not grant nodes/proxy for this, which runs commands in every pod: try --direct, or files as import takes them'
    : '';
  return new GitopsError(
    'NOTHING_TO_AUDIT',
    `no kubelet said what it runs: ${why.slice(0, MOST_REASONS).join('; ') || 'there are no nodes'}${way}`,
  );
}

function asText(report: AuditReport, format: (typeof FORMATS)[number], io: Io): string {
  if (format === 'json') return `${JSON.stringify(report, null, 2)}\n`;
  if (format === 'yaml') return stringify(report, { lineWidth: 0, aliasDuplicateObjects: false });
  if (format !== 'text') return RENDERERS[format](report);
  return wrapFor(io.out)(reportAsText(report, paintFor(io.out, io.env)));
}
