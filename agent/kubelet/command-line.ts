import { basename, dirname, join } from 'node:path';
import { decodeYaml } from '#shared/contract/kubelet-config/decode/decode.ts';
import { isMap } from '#shared/runtime/maps.ts';
import type { HostFiles } from '../host/host-files.ts';
import type { CommandLine, ReadCommandLine } from '../ports/command-line.ts';
import { commandOf, kubeletArgsIn, kubeletChild, lineOfRun } from './kubelet-process.ts';
import { starterIn } from './kubelet-start.ts';

/** Keeps the last command line over restarts of the agent: what the journal had of it may have gone by then. */
export interface CommandLineMemory {
  load(): Promise<RememberedLine | undefined>;
  save(remembered: RememberedLine): Promise<void>;
}

export interface RememberedLine extends CommandLine {
  /** See `ServiceStatus`. */
  readonly run: string | null;
  readonly unit: string;
}

interface CommandLineOptions {
  readonly files: HostFiles;
  /** `k3s-agent.service`. */
  readonly unit: string;
  readonly memory?: CommandLineMemory;
}

/** How often in a row one run is asked for more than its program's files say, and how seldom then: it may log its line minutes later. */
const FIRST_TRIES = 10;
const LATER_TRIES = 20;

/** Reads the host's processes, its journal, and what k3s, RKE2 and MicroK8s are set to. */
export function createReadCommandLine({ files, unit, memory }: CommandLineOptions): ReadCommandLine {
  let last: RememberedLine | undefined;
  let asked: { readonly run: string | null; readonly tries: number } = { run: null, tries: 0 };
  let isLoaded = false;
  /** Whether what the program logs is all: RKE2 puts more flags before those when it starts its kubelet. */
  let isLogWhole = false;
  const rank = (seenIn: CommandLine['seenIn']): number =>
    seenIn === 'files' ? 0 : seenIn === 'process' || isLogWhole ? 2 : 1;
  const ofUnit = (line: RememberedLine | undefined) => (line?.unit === unit ? line : undefined);
  return async ({ run, pid }) => {
    if (!isLoaded) last = ofUnit(await memory?.load().catch(() => undefined));
    isLoaded = true;
    const isKnown = run !== null && last?.run === run && rank(last.seenIn) === 2;
    const tries = asked.run === run ? asked.tries + 1 : 1;
    asked = { run, tries };
    const isPut = run !== null && tries > FIRST_TRIES && tries % LATER_TRIES !== 0;
    if (pid === undefined || isKnown || isPut) return last;
    const read = await readLine(files, unit, run, pid).catch(() => undefined);
    if (read === undefined) return last;
    const { program, ...line } = read;
    isLogWhole = program !== 'rke2';
    // The kubelet may not have started yet. Until its flags are seen, those of the last run count.
    const isSame = last?.run === run && last.seenIn === line.seenIn;
    if (last !== undefined && (isSame || rank(line.seenIn) < rank(last.seenIn))) return last;
    last = { run, unit, ...line };
    await memory?.save(last).catch(() => undefined);
    return last;
  };
}

async function readLine(
  files: HostFiles,
  unit: string,
  run: string | null,
  pid: number,
): Promise<(CommandLine & { readonly program: string | undefined }) | undefined> {
  const command = await commandOf(files, pid);
  const program = starterIn(unit, command)?.program;
  const own = kubeletArgsIn(command) ?? (await argsOfChild(files, pid));
  if (own !== undefined) return { args: own, seenIn: 'process', program };
  const line = run === null ? undefined : await lineOfRun(files, unit, run, RUNNING);
  if (typeof line === 'string') return { args: argsInLog(line), seenIn: 'journal', program };
  const set = (await argsInFile(files, command)) ?? (await argsInSettings(files, program));
  return set && { args: set, seenIn: 'files', program };
}

async function argsOfChild(files: HostFiles, pid: number): Promise<readonly string[] | undefined> {
  const child = await kubeletChild(files, pid);
  return typeof child === 'string' ? kubeletArgsIn(await commandOf(files, child)) : undefined;
}

/** As k3s writes it (pkg/daemons/agent/agent.go): the kubelet's own lines in the same log quote what pods are named and run. */
const RUNNING = /^time="[^"]*" level=info msg="Running kubelet -/;

function argsInLog(line: string): readonly string[] {
  const [, text = ''] = line.split('Running kubelet ', 2);
  return text
    .replace(/"$/, '')
    .replaceAll(/\\(["\\])/g, '$1')
    .split(/ (?=--)/);
}

/** Kubelite of MicroK8s names its file: a flag a line, with variables of the snap. */
async function argsInFile(files: HostFiles, command: readonly string[]): Promise<readonly string[] | undefined> {
  const path = command.find((word) => word.startsWith(ARGS_FILE))?.slice(ARGS_FILE.length);
  const text = path === undefined ? undefined : await files.text(path);
  if (path === undefined || text === undefined) return undefined;
  const data = dirname(dirname(path));
  const places = {
    SNAP_DATA: data,
    SNAP_COMMON: join(data, '..', 'common'),
    SNAP: join('/snap/microk8s', basename(data)),
  };
  return text
    .split('\n')
    .map((line) => line.trim().replaceAll('"', ''))
    .filter((line) => line.startsWith('-'))
    .map((line) =>
      line.replaceAll(/\$\{?(SNAP(?:_DATA|_COMMON)?)\}?/g, (_, name: keyof typeof places) => places[name]),
    );
}

const ARGS_FILE = '--kubelet-args-file=';

/**
 * What k3s and RKE2 are told to add to their own flags (docs.k3s.io, configuration file), and those of their own that matter: the drop-in
 * directory, which 1.32 brought, and the read-only port, which 1.32.4 and 1.32.5 close (k3s#12166).
 */
async function argsInSettings(files: HostFiles, program: string | undefined): Promise<readonly string[] | undefined> {
  if (program !== 'k3s' && program !== 'rke2') return undefined;
  const file = `/etc/rancher/${program}/config.yaml`;
  const more = ((await files.names(`${file}.d`)) ?? []).filter((name) => /\.ya?ml$/.test(name)).toSorted();
  let args: readonly string[] = [];
  let dataDirectory = `/var/lib/rancher/${program}`;
  for (const path of [file, ...more.map((name) => join(`${file}.d`, name))]) {
    const value = decodeYaml(Buffer.from((await files.text(path)) ?? '', 'utf8'), path).value;
    if (!isMap(value)) continue;
    if (typeof value['data-dir'] === 'string') dataDirectory = value['data-dir'];
    const flags = (key: string): readonly string[] =>
      [value[key] ?? []].flat().flatMap((flag) => (typeof flag === 'string' ? [`--${flag}`] : []));
    if (value['kubelet-arg'] !== undefined) args = flags('kubelet-arg');
    args = [...args, ...flags('kubelet-arg+')];
  }
  const directory = join(dataDirectory, 'agent/etc/kubelet.conf.d');
  return (await files.kind(directory)) === 'directory'
    ? ['--read-only-port=0', `--config-dir=${directory}`, ...args]
    : args;
}
