import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stagedPathOf } from '#agent/guard/guard-paths.ts';
import type { Shell } from './shells.ts';
import { STUBS } from './command-stubs.ts';

export const SCRIPT = 'agent/guard/guard.sh';
export const BOOT = '11111111-2222-3333-4444-555555555555';
export const UNIT = 'kubelet.service';

export type Mode = 'start' | 'tick';

export interface RunOptions {
  /** Seconds after which the guard is to give up; usually more than a busy machine ever takes. */
  readonly patience?: number;
  /** Kills the guard and all that it started just before this one of its commands, counted from 1. */
  readonly killAt?: number;
  /** Runs as somebody who may not read everything. */
  readonly asNobody?: boolean;
}

export interface Ran {
  readonly status: number | null;
  readonly ms: number;
  readonly stderr: string;
}

/** A host in a temporary directory: the guard's files, a kubelet's files, /proc, and the commands that the guard calls. */
export interface GuardedHost {
  readonly root: string;
  readonly guard: string;
  readonly dropIn: string;
  /** A file that a trial changes. */
  readonly config: string;
  /** Where the guard finds once more what `config` has to be. */
  readonly copy: string;
  /** A file that a trial has put there, and that has to go. */
  readonly state: string;
  readonly paths: { readonly proc: string; readonly bin: string };
  readonly run: (mode: Mode, options?: RunOptions) => Promise<Ran>;
  /** The kubelet starts so often, and is let to. */
  readonly start: (times?: number) => Promise<void>;
  /** A tick at each of these ages of the machine, in the boot of now; without an age, at once. */
  readonly tick: (...uptimeSeconds: readonly number[]) => Promise<void>;
  /** Has the plan of the trial say so. */
  readonly arm: (plan: PlanOptions) => void;
  /** What was called so far, without what only reads. */
  readonly calls: () => readonly string[];
  /** How many commands were called so far that `killAt` counts. */
  readonly commands: () => number;
  /** In the boot that was set last, unless another one is named. */
  readonly setTime: (uptimeSeconds: number, boot?: string) => void;
  readonly setUnit: (state: 'active' | 'failed' | 'inactive' | 'activating') => void;
  /** Somebody ran `systemctl stop`; `job`: and something else is to come. */
  readonly stopUnit: (job?: number) => void;
  /** The unit's program is that, by its command line, and has written so much since it was started. */
  readonly setProgram: (commandLine: string, journal: string, state?: 'start' | 'running') => void;
  readonly write: (name: string, text: string) => void;
  readonly read: (path: string) => string | undefined;
  readonly remove: () => void;
}

export const NEW = '{"maxPods": 250}\n';
export const OLD = '{"maxPods": 110}\n';

export interface PlanOptions {
  readonly maxStarts?: number;
  readonly silence?: number;
}

/**
 * A host with an armed guard, which a shell runs: `config` has the file on trial, with the old one beside it, and `state` has to go.
 */
export function createGuardedHost(shell: Shell, options: PlanOptions = {}): GuardedHost {
  const root = mkdtempSync(join(tmpdir(), 'kubelet-gitops-guard-'));
  const guard = join(root, 'guard');
  const bin = join(root, 'bin');
  const proc = join(root, 'proc');
  const dropIn = join(root, 'unit.d', '90-kubelet-gitops-guard.conf');
  const [config, state] = [join(root, 'kubelet', 'config.yaml'), join(root, 'kubelet', 'memory_manager_state')];
  const copy = join(guard, 'copies', config);
  mkdirSync(dirname(copy), { recursive: true });
  for (const directory of [guard, bin, join(proc, 'sys/kernel/random'), join(root, 'unit.d'), join(root, 'kubelet')]) {
    mkdirSync(directory, { recursive: true });
  }
  for (const [name, text] of Object.entries(STUBS)) writeFileSync(join(bin, name), text, { mode: 0o755 });
  cpSync(SCRIPT, join(guard, 'guard.sh'));
  const write = (name: string, text: string): void => writeFileSync(join(guard, name), text);
  const arm = ({ maxStarts = 3, silence = 600 }: PlanOptions): void =>
    write(
      'plan',
      `kubelet-gitops-guard 1
trial t
to before
unit ${UNIT}
max-starts ${maxStarts}
silence ${silence}
drop-in ${dropIn}
put ${config}
remove ${state}
end
`,
    );
  arm(options);
  writeFileSync(config, NEW);
  writeFileSync(stagedPathOf(config), OLD);
  writeFileSync(copy, OLD);
  writeFileSync(state, 'new state\n');
  writeFileSync(dropIn, '[Service]\n');
  writeFileSync(join(root, 'unit'), 'active\n');

  let boot = BOOT;
  const setTime = (uptimeSeconds: number, now = boot): void => {
    boot = now;
    writeFileSync(join(proc, 'uptime'), `${uptimeSeconds}.25 ${uptimeSeconds * 2}.00\n`);
    writeFileSync(join(proc, 'sys/kernel/random/boot_id'), `${boot}\n`);
  };
  setTime(1000);
  const log = (): readonly string[] => (read(join(root, 'log')) ?? '').split('\n').filter((line) => line !== '');
  const host: GuardedHost = {
    root,
    guard,
    dropIn,
    config,
    copy,
    state,
    paths: { proc, bin },
    setTime,
    setUnit(now) {
      writeFileSync(join(root, 'unit'), `${now}\n`);
      const result = now === 'failed' || now === 'inactive' ? 'exit-code' : 'success';
      writeFileSync(join(root, 'shown'), `Result=${result}\nActiveState=${now}\n`);
    },
    stopUnit(job) {
      writeFileSync(join(root, 'unit'), 'inactive\n');
      const queued = job === undefined ? '' : `Job=${job}\n`;
      writeFileSync(join(root, 'shown'), `${queued}Result=success\nActiveState=inactive\n`);
    },
    setProgram(commandLine, journal, state = 'start') {
      mkdirSync(join(proc, '77'), { recursive: true });
      writeFileSync(join(proc, '77', 'cmdline'), commandLine.replaceAll(' ', '\0'));
      writeFileSync(join(root, 'run'), `MainPID=77\nInvocationID=0123abcd\nSubState=${state}\n`);
      writeFileSync(join(root, 'journal'), journal);
    },
    write,
    read,
    arm,
    async start(times = 1) {
      for (let time = 0; time < times; time += 1) assert.equal((await host.run('start')).status, 0);
    },
    async tick(...ages) {
      for (const age of ages.length === 0 ? [undefined] : ages) {
        if (age !== undefined) setTime(age);
        assert.equal((await host.run('tick')).status, 0);
      }
    },
    calls: () =>
      log().filter(
        (line) => !/^(?:systemctl is-active|systemctl show|date|mv|rm|cp|cmp|grep|dd|journalctl|sleep) /.test(line),
      ),
    commands: () => log().length,
    async run(mode, { patience = 200, killAt = 0, asNobody = false } = {}) {
      const isRoot = process.getuid?.() === 0;
      if (asNobody && isRoot) giveAway(root);
      const [command, ...args] = shell.argv;
      rmSync(join(root, 'count'), { force: true });
      const started = performance.now();
      const child = spawn(command, [...args, join(guard, 'guard.sh'), mode, String(patience), proc, bin], {
        stdio: ['ignore', 'ignore', 'pipe'],
        // A process group of its own, which can be killed as one.
        detached: true,
        env: { STUBS_ROOT: root, STUBS_KILL_AT: String(killAt) },
        ...(asNobody && isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
      });
      const stderr: string[] = [];
      child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
      const [status] = (await once(child, 'exit')) as [number | null];
      child.stderr.destroy();
      return { status, ms: performance.now() - started, stderr: stderr.join('') };
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  return host;
}

const NOBODY = 65_534;

function giveAway(path: string): void {
  chownSync(path, NOBODY, NOBODY);
  if (!statSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) giveAway(join(path, name));
}

function read(path: string): string | undefined {
  return existsSync(path) && statSync(path).isFile() ? readFileSync(path, 'utf8') : undefined;
}
