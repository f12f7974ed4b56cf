import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createInterface } from 'node:readline';
import { freePorts } from '../../cluster/support/free-ports.ts';
import { type Daemon, startDaemon } from '../../cluster/support/daemon.ts';
import { until } from '../../support/until.ts';
import { COMMANDS_PORT } from './machine-paths.ts';

export interface MachineOptions {
  /** Where its console's log goes; `diskImage` of it, and it is removed with the machine. */
  readonly directory: string;
  readonly kernel: string;
  readonly initrd: string;
  readonly diskImage: string;
  /** A port of its own that is to be had from outside. */
  readonly forward: number;
  readonly size?: MachineSize;
}

export interface MachineSize {
  /** Mebibytes. */
  readonly memory: number;
  readonly processors: number;
}

/** A machine with a kernel, a disk and processors of its own, emulated by QEMU: slow, and the same on every computer. */
export interface Machine {
  /** What `forward` is on 127.0.0.1. */
  readonly port: number;
  /** Runs a script on it as root. @returns what it printed @throws where it fails or the machine is away */
  readonly run: (script: string) => Promise<string>;
  /** The same for what ends the machine before it could answer: begins a second later. */
  readonly runLater: (script: string) => Promise<void>;
  /** Takes its power away and gives it back: what its disk had not been told to keep is lost. Resolves when it has rebooted. */
  readonly cutPower: () => Promise<void>;
  /** Resolves when it has rebooted since anybody here last saw it boot, whoever had it do so. */
  readonly rebooted: () => Promise<void>;
  /** Turns it on again once it has turned itself off, as a machine of another size where one is given. Resolves when it has booted. */
  readonly turnOn: (size?: MachineSize) => Promise<void>;
  readonly logTail: (lines?: number) => string;
  /** Takes its power away and removes it. */
  readonly stop: () => Promise<void>;
}

/** Ends what hangs: under emulation, beside other work, a boot takes minutes. */
const PATIENCE_MS = 15 * 60_000;
/** Of the console, after which a panic is still seen. */
const PANIC_LINES = 40;
const COMMAND_MS = 3 * 60_000;
/** A machine that goes down in the middle of a command leaves its connection open. */
const BOOT_LOOK_MS = 30_000;
const USUAL_SIZE: MachineSize = { memory: 2048, processors: 2 };

/** Resolves when it has booted. */
export async function bootMachine(options: MachineOptions): Promise<Machine> {
  const [commands = 0, port = 0] = await freePorts(2);
  const monitor = monitorOf(options);
  const logFile = consoleOf(options);
  const powerOn = (size: MachineSize): Daemon =>
    startDaemon({
      name: 'QEMU',
      command: 'qemu-system-x86_64',
      args: hardware(options, size, commands, port),
      logFile,
    });
  let qemu = powerOn(options.size ?? USUAL_SIZE);

  const isLost = (): string | undefined => qemu.ended() ?? /^.*Kernel panic.*$/m.exec(qemu.logTail(PANIC_LINES))?.[0];
  const logTail: Machine['logTail'] = (lines) => qemu.logTail(lines);
  const patience = { withinMs: PATIENCE_MS, everyMs: 1000, evidence: logTail };
  const bound = { ...patience, hopeless: isLost };
  const run = (script: string): Promise<string> => command(commands, script);
  const bootId = (): Promise<string> => command(commands, 'cat /proc/sys/kernel/random/boot_id', BOOT_LOOK_MS);
  const stop = async (): Promise<void> => {
    await qemu.stop();
    await rm(options.directory, { recursive: true, force: true });
  };
  let boot: string;
  try {
    boot = await until('the machine to have booted', bootId, bound);
  } catch (error) {
    await stop();
    throw error;
  }
  const rebooted = async (): Promise<void> => {
    const before = boot;
    boot = await until(
      'the machine to have booted again',
      async () => {
        const present = await bootId();
        return present !== before && present;
      },
      bound,
    );
  };
  return {
    port,
    run,
    runLater: async (script) =>
      void (await run(`systemd-run --quiet --collect --on-active=1 --timer-property=AccuracySec=1s sh -c '${script}'`)),
    async cutPower() {
      await order(monitor, 'system_reset');
      await rebooted();
    },
    rebooted,
    async turnOn(size = options.size ?? USUAL_SIZE) {
      await until('the machine to be off', () => qemu.ended(), patience);
      qemu = powerOn(size);
      await rebooted();
    },
    logTail,
    stop,
  };
}

const monitorOf = ({ directory }: MachineOptions): string => join(directory, 'monitor');
const consoleOf = ({ directory }: MachineOptions): string => join(directory, 'console.log');

/** The command line of QEMU. What it serves, it serves on the loopback. */
function hardware(options: MachineOptions, size: MachineSize, commands: number, port: number): string[] {
  // Beside other work, the emulated timer is late when the kernel tries it, and that ends in a panic.
  const kernelFlags = 'root=/dev/vda rw console=ttyS0 quiet mitigations=off random.trust_cpu=on audit=0 no_timer_check';
  const ways = [
    `hostfwd=tcp:127.0.0.1:${commands}-:${COMMANDS_PORT}`,
    `hostfwd=tcp:127.0.0.1:${port}-:${options.forward}`,
  ];
  const flags: readonly (readonly [flag: string, value?: string])[] = [
    // Processors that run at the same time, or instructions that this emulator has wrong, crash the kernel.
    ['accel', 'tcg,thread=single,tb-size=512'],
    ['cpu', 'Nehalem,cx16=off'],
    ['smp', `${size.processors}`],
    ['m', `${size.memory}`],
    ['M', 'q35,sata=off,usb=off,vmport=off'],
    ['nodefaults'],
    ['no-user-config'],
    ['nographic'],
    ['kernel', options.kernel],
    ['initrd', options.initrd],
    ['append', kernelFlags],
    ['drive', `file=${options.diskImage},if=virtio,format=raw,cache=writeback,discard=unmap`],
    ['netdev', ['user', 'id=net', ...ways].join(',')],
    ['device', 'virtio-net-pci,netdev=net,romfile='],
    ['device', 'virtio-rng-pci'],
    ['serial', `file:${consoleOf(options)}`],
    ['qmp', `unix:${monitorOf(options)},server=on,wait=off`],
  ];
  return flags.flatMap(([flag, value]) => [`-${flag}`, ...(value === undefined ? [] : [value])]);
}

/** systemd on the machine has a shell read what comes, and answer. */
async function command(port: number, script: string, withinMs = COMMAND_MS): Promise<string> {
  const end = randomUUID();
  const socket = connect(port, '127.0.0.1').setTimeout(withinMs, () =>
    socket.destroy(new Error(`no answer: ${script}`)),
  );
  // QEMU itself takes the connection, whether or not there is anybody on the machine.
  socket.end(`( ${script}\n) 2>&1 </dev/null; echo "${end} $?"\n`);
  const said = await text(socket);
  const [output = '', status] = said.split(`${end} `);
  if (status === undefined) throw new Error(`the machine did not finish: ${script}\n${said}`);
  if (Number(status) !== 0) throw new Error(`status ${status.trim()}: ${script}\n${output}`);
  return output;
}

/** By the QEMU machine protocol: a greeting, then one answer for each order, with events in between. */
async function order(monitor: string, what: string): Promise<void> {
  const socket = connect(monitor);
  try {
    await once(socket, 'connect');
    socket.write(`{"execute":"qmp_capabilities"}{"execute":"${what}","id":"${what}"}\n`);
    for await (const line of createInterface(socket)) {
      const { id, error } = JSON.parse(line) as { readonly id?: string; readonly error?: unknown };
      if (error !== undefined) throw new Error(`QEMU refuses ${what}: ${line}`);
      if (id === what) return;
    }
  } finally {
    socket.destroy();
  }
  throw new Error(`QEMU did not answer ${what}`);
}
