import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeletProbe } from '#agent/ports/kubelet-probe.ts';
import type { KubeletService } from '#agent/ports/kubelet-service.ts';
import { minorNumber, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createEndpoints } from './endpoints.ts';
import { SMALL_HOST, type SimulatedHost } from './host.ts';
import { createNodeView } from './node-view.ts';
import { QUICK, type SimulatedKubeletOptions } from './kubelet-options.ts';
import { createSimulatedProbe, wrongWith } from './probe.ts';
import { type ProcessExit, type ProcessState, runProcess } from './process.ts';
import { type NodeResources, resourcesOf } from './node-resources.ts';
import { createUnit } from './unit.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * A kubelet with its machine and its service manager, in this process: it reads real files at each start, dies of what a
 * real one dies of, comes up again by itself, and answers on real ports. It runs no pods.
 */
export interface SimulatedKubelet {
  /** Its `--config`. */
  readonly configFile: string;
  /** Its `--config-dir`; undefined without one. */
  readonly dropInDirectory: string | undefined;
  /** Its `--root-dir`, where the managers' state files are. */
  readonly rootDirectory: string;
  /** The machine that it runs on. */
  readonly host: SimulatedHost;
  readonly service: KubeletService;
  readonly probe: KubeletProbe;
  /** What it runs, with its defaults; null while it does not answer. */
  running(): Config | null;
  /** How often its process was started, by whomever. */
  starts(): number;
  /** What it said when it last ended by itself. */
  lastWords(): string;
  bootId(): string;
  start(): Promise<void>;
  /** Resolves when the process is gone. */
  stop(): Promise<void>;
  /** SIGKILL: it comes up again by itself. */
  kill(): void;
  /** Turns the machine off and on again. */
  reboot(): Promise<void>;
  /** The machine has another size from its next start on. */
  resize(machine: Partial<SimulatedHost>): void;
  /** The binary is another from the next start on. */
  upgrade(version: string): void;
  /** Ends everything; the files stay. */
  close(): Promise<void>;
}

/** Makes the files; `start` starts it. */
export async function createSimulatedKubelet(options: SimulatedKubeletOptions): Promise<SimulatedKubelet> {
  const { directory, clock = systemClock } = options;
  const timing = { ...QUICK, ...options.timing };
  const host = { ...SMALL_HOST, ...options.host };
  const configFile = join(directory, 'config.yaml');
  const dropInDirectory = options.readsDropIns === false ? undefined : join(directory, 'config.d');
  await mkdir(dropInDirectory ?? directory, { recursive: true });
  await writeOnce(configFile, options.localConfig ?? LOCAL_CONFIG);

  let { version } = options;
  let bootId = randomUUID();
  let life: ProcessState | null = null;
  let port: number | undefined;
  let resources: NodeResources | undefined;
  const endpoints =
    options.endpoints === 'direct'
      ? undefined
      : createEndpoints({ healthz: () => wrongWith(life), configz: () => configOf(life) });
  const view = createNodeView({
    clock,
    timing,
    facts: () => ({ kubeletVersion: version, bootId, port, resources }),
    report: options.onReport ?? (() => undefined),
  });
  const enter = async (next: ProcessState | null): Promise<void> => {
    if (next?.stage === 'healthy') port = await endpoints?.open();
    if (next === null) await endpoints?.close();
    life = next;
    if (next?.stage === 'ready') resources = resourcesOf(next.config, host);
    view.follow(next);
  };
  const unit = createUnit({
    clock,
    timing,
    pollMs: options.pollMs,
    bootId: () => bootId,
    async process(signal): Promise<ProcessExit | null> {
      const minor = Math.min(minorNumber(version) ?? NEWEST_MINOR, NEWEST_MINOR);
      const files = { configFile, dropInDirectory, rootDirectory: directory };
      const death = await runProcess(
        { ...files, minor, host, timing, clock, fault: options.fault ?? (() => null), enter },
        signal,
      );
      await enter(null);
      return death;
    },
  });

  return {
    configFile,
    dropInDirectory,
    rootDirectory: directory,
    host,
    service: unit.service,
    probe: createSimulatedProbe({ life: () => life, showsConfigz: options.showsConfigz !== false, port: () => port }),
    running: () => configOf(life),
    starts: unit.starts,
    lastWords: unit.lastWords,
    bootId: () => bootId,
    start: unit.start,
    stop: unit.stop,
    kill: unit.kill,
    async reboot() {
      await unit.stop();
      await clock.sleep(timing.rebootMs);
      bootId = randomUUID();
      await unit.start();
    },
    resize: (machine) => void Object.assign(host, machine),
    upgrade: (next) => void (version = next),
    async close() {
      await unit.close();
      view.end();
    },
  };
}

/** As kubeadm leaves it on a node, in short. */
const LOCAL_CONFIG = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous:
    enabled: false
  webhook:
    enabled: true
authorization:
  mode: Webhook
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
rotateCertificates: true
`;

function configOf(life: ProcessState | null): Config | null {
  return life?.stage === 'healthy' || life?.stage === 'ready' ? life.config : null;
}

async function writeOnce(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o644 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
