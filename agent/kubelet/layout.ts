import { basename, join, resolve } from 'node:path';
import { parseFlags } from './flags.ts';

/** Where this node's kubelet has what the agent reads and writes. Paths are the host's. */
export interface Layout {
  /** The kubelet's `--config`; undefined where it has none. */
  readonly configFile: string | undefined;
  /** The kubelet's `--config-dir`; undefined where it has none, and configs are merged into the file. */
  readonly configDirectory: string | undefined;
  /** The kubelet's `--root-dir`, where its managers keep their state. */
  readonly rootDirectory: string;
}

/** The same as the operator sets it: what is left out is as the kubelet's command line says. */
export type LayoutSettings = { readonly [Key in keyof Layout]: string | undefined };

const DEFAULTS = { configFile: '/var/lib/kubelet/config.yaml', rootDirectory: '/var/lib/kubelet' } as const;

/** @param args the kubelet's flags; undefined where they were never seen, and the defaults are kubeadm's */
export function layoutOf(settings: LayoutSettings, args: readonly string[] | undefined): Layout {
  // An empty flag is none, and a kubelet under systemd begins at the root.
  const flags = new Map(
    parseFlags(args ?? []).flatMap(([flag, path]) => (path === '' ? [] : [[flag, resolve('/', path)]])),
  );
  const configDirectory = settings.configDirectory ?? flags.get('config-dir');
  const isOnlyDirectory = settings.configFile === undefined && configDirectory !== undefined;
  const fallback = args !== undefined || isOnlyDirectory ? undefined : DEFAULTS.configFile;
  return {
    configFile: settings.configFile ?? flags.get('config') ?? fallback,
    configDirectory,
    rootDirectory: settings.rootDirectory ?? flags.get('root-dir') ?? DEFAULTS.rootDirectory,
  };
}

const DROP_INS_OF_RKE2 = '/agent/etc/kubelet.conf.d';

/** RKE2's kubelet writes its log below the data directory, as its drop-ins are (rancher/rke2 `pkg/cli/defaults`). */
export const logFileOf = (unit: string, { configDirectory = '' }: Layout): string | undefined =>
  unit.startsWith('rke2') && configDirectory.endsWith(DROP_INS_OF_RKE2)
    ? join(configDirectory, '../../logs/kubelet.log')
    : undefined;

const NO_FILE = 'no-config-file';

/** Stands for the file of a kubelet that has none: nothing is ever there. */
export const noConfigFile = (stateDirectory: string): string => join(stateDirectory, NO_FILE);

export const isNoConfigFile = (path: string): boolean => basename(path) === NO_FILE;
