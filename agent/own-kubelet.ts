import { type Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { AgentSettings } from './settings.ts';
import { createBusLink, SYSTEM_BUS } from './host/dbus/link.ts';
import type { HostFiles } from './host/host-files.ts';
import { volatileFileSystemOf, whyForgottenByBoots } from './host/volatile-path.ts';
import { createCommandLineMemory } from './kubelet/command-line-record.ts';
import { createReadCommandLine } from './kubelet/command-line.ts';
import { findKubeletUnit, type FoundUnit, USUAL_UNIT } from './kubelet/find-unit.ts';
import { type Layout, layoutOf, logFileOf } from './kubelet/layout.ts';
import { type Misfit, whyNotMounted, whyOtherUnit, whyUnread } from './kubelet/misfit.ts';
import { createCommandService } from './kubelet/service-command.ts';
import { createSystemdService, type SystemdService } from './kubelet/service-systemd.ts';
import type { ReadCommandLine } from './ports/command-line.ts';
import type { Disk } from './ports/disk.ts';
import type { KubeletService } from './ports/kubelet-service.ts';

/** The kubelet of this machine: as it is seen, where the settings do not say otherwise. */
export interface OwnKubelet {
  /** Its unit; undefined where it is restarted by a command. */
  readonly unit: string | undefined;
  /** Of the guard, for drop-ins of the unit; undefined without a guard. */
  readonly unitDirectory: string | undefined;
  readonly layout: Layout;
  /** Where the kubelet writes its log; undefined for the journal. */
  readonly logFile: string | undefined;
  readonly service: KubeletService;
  readonly commandLine: ReadCommandLine;
  /** Why no config can be tried on it, in a sentence; undefined if one can. */
  readonly whyUnfit: () => Promise<string | undefined>;
  readonly reboot: SystemdService['reboot'] | undefined;
  readonly close: () => void;
}

interface Tools {
  readonly files: HostFiles;
  readonly disk: Disk;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export async function findOwnKubelet(settings: AgentSettings, tools: Tools): Promise<OwnKubelet> {
  const { nodeName, stateDirectory, guard } = settings;
  const { files, disk, clock, random, log, signal } = tools;
  const memory = createCommandLineMemory(disk, stateDirectory, nodeName);
  if (settings.service.manager === 'command') {
    const { command, pidFile } = settings.service;
    const service = createCommandService({ restartCommand: command, pidFile });
    const commandLine = createReadCommandLine({ files, unit: '', memory });
    const layout = layoutOf(settings.layout, (await commandLine(await service.status(signal)))?.args);
    const whyUnfit = async (): Promise<Misfit> => filesUnfit(layout, '', commandLine, service);
    return {
      unit: undefined,
      unitDirectory: undefined,
      layout,
      logFile: undefined,
      service,
      commandLine,
      whyUnfit,
      reboot: undefined,
      close: () => undefined,
    };
  }
  const find = async (): Promise<FoundUnit | undefined> => {
    const link = createBusLink({ socketPath: SYSTEM_BUS, clock });
    return findKubeletUnit(link, files, signal).finally(() => link.close());
  };
  const unit = settings.service.unit ?? unitOf(await find(), (await memory.load().catch(() => undefined))?.unit);
  const unitDirectory = guard.guard === 'on' ? (guard.unitDirectory ?? `/etc/systemd/system/${unit}.d`) : undefined;
  const service = createSystemdService({ unit, isGuarded: guard.guard === 'on', clock, random, log });
  const commandLine = createReadCommandLine({ files, unit, memory });
  const layout = layoutOf(settings.layout, (await commandLine(await service.status(signal)))?.args);
  log.info({ unit, ...layout }, 'this kubelet');
  return {
    unit,
    unitDirectory,
    layout,
    logFile: settings.kubeletLogFile ?? logFileOf(unit, layout),
    service,
    commandLine,
    whyUnfit: async () => {
      const { pid } = await service.status(signal);
      return (
        (pid === undefined ? whyOtherUnit(unit, await find()) : undefined) ??
        (await service.unfitness(signal).catch(() => undefined)) ??
        (await whyForgotten()) ??
        filesUnfit(layout, unit, commandLine, service)
      );
    },
    reboot: (because, within) => service.reboot(because, within),
    close: () => service.close(),
  };

  async function filesUnfit(
    layout: Layout,
    unit: string,
    read: ReadCommandLine,
    service: KubeletService,
  ): Promise<Misfit> {
    const line = await read(await service.status(signal));
    const host = { root: settings.hostRoot, files };
    return (await whyUnread(layout, unit, line, files)) ?? whyNotMounted(layout, unit, line, host);
  }

  async function whyForgotten(): Promise<string | undefined> {
    if (unitDirectory === undefined) return undefined;
    const paths = { KUBELET_UNIT_DIR: unitDirectory, STATE_DIR: stateDirectory };
    return whyForgottenByBoots(paths, (path) => volatileFileSystemOf(path, settings.hostRoot));
  }
}

/** While none runs, the one that did. */
const unitOf = (found: FoundUnit | undefined, remembered: string | undefined): string =>
  (found?.isRunning === true ? found.unit : undefined) ?? (remembered || undefined) ?? found?.unit ?? USUAL_UNIT;
