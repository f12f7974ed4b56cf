import { isAbsolute } from 'node:path';
import { isPolicyField } from '#shared/contract/kubelet-config/field-policy.ts';
import { type ProxySettings, readProxySettings } from '#shared/http/proxy.ts';
import { createEnvReader, type EnvReader } from '#shared/runtime/env.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import type { LayoutSettings } from './kubelet/layout.ts';
import { VERSION } from '#shared/runtime/version.ts';

/** How the kubelet is restarted on this machine. */
type ServiceSettings =
  | {
      readonly manager: 'systemd';
      /** Undefined for the one that is found to run the kubelet. */
      readonly unit: string | undefined;
    }
  /** A shell command, and the file that the kubelet's process number is in where there is one. */
  | { readonly manager: 'command'; readonly command: string; readonly pidFile: string | undefined };

/** Whether a trial is taken back without the agent where the agent cannot. */
type GuardSettings =
  /** Directory for drop-ins of the kubelet's unit, at the same path for the host and for the agent; undefined for the usual one. */
  | { readonly guard: 'on'; readonly unitDirectory: string | undefined }
  | { readonly guard: 'off'; readonly why: string };

/** Everything that an operator can set for the agent. */
export interface AgentSettings {
  readonly nodeName: string;
  readonly stateDirectory: string;
  readonly layout: LayoutSettings;
  /** Where the root directory of the host is seen: `/` on the host itself. */
  readonly hostRoot: string;
  /** Certificate that the kubelet serves its API with; undefined for the one in its usual place. */
  readonly kubeletServingCerts: string | undefined;
  /** The kubelet's own log file; undefined where it logs to the journal alone. */
  readonly kubeletLogFile: string | undefined;
  readonly service: ServiceSettings;
  readonly guard: GuardSettings;
  /** `uninstall`: gives the node its local config back, takes everything of ours away, and does nothing more. */
  readonly mode: 'run' | 'uninstall';
  /** The API server's address; undefined for the pod's own. */
  readonly kubeServer: string | undefined;
  /** Directory with `token` and `ca.crt` for it. */
  readonly kubeCredentialsDirectory: string | undefined;
  /** What may stand before it. */
  readonly proxy: ProxySettings;
  /**
   * Fields of the KubeletConfiguration that no assignment may set here, whatever the cluster allows; `default` for those that are denied
   * by default.
   */
  readonly denyFields: readonly string[];
  /** Where metrics are served; undefined for nowhere. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined;
  readonly logLevel: string;
  readonly agentVersion: string;
}

/** @throws GitopsError `SETTINGS_INVALID`, which names every mistake at once */
export function readAgentSettings(env: Readonly<Record<string, string | undefined>>): AgentSettings {
  const read = createEnvReader(env);
  const service = serviceIn(read);
  const settings: AgentSettings = {
    nodeName: read.text('NODE_NAME'),
    stateDirectory: path(read, 'STATE_DIR', '/var/lib/kubelet-gitops') ?? '',
    layout: {
      configFile: path(read, 'KUBELET_CONFIG_FILE'),
      configDirectory: path(read, 'KUBELET_CONFIG_DIR'),
      rootDirectory: path(read, 'KUBELET_ROOT_DIR'),
    },
    hostRoot: path(read, 'HOST_ROOT', '/') ?? '/',
    kubeletServingCerts: path(read, 'KUBELET_SERVING_CERTS'),
    kubeletLogFile: path(read, 'KUBELET_LOG_FILE'),
    service,
    guard: guardIn(read, service),
    mode: read.oneOf('MODE', ['run', 'uninstall'], 'run'),
    kubeServer: read.optional('KUBE_SERVER'),
    kubeCredentialsDirectory: path(read, 'KUBE_CREDENTIALS_DIR'),
    proxy: readProxySettings(read.optional, read.mistake),
    denyFields: (read.optional('DENY_FIELDS') ?? '').split(/[\s,]+/).filter((field) => field !== ''),
    metrics: metricsIn(read),
    logLevel: read.oneOf('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error'], 'info'),
    agentVersion: read.text('AGENT_VERSION', VERSION),
  };
  const noField = settings.denyFields.find((field) => field !== 'default' && !isPolicyField(field));
  if (noField !== undefined) read.mistake(`DENY_FIELDS: ${noField} is not a field of a KubeletConfiguration`);
  if (settings.kubeServer !== undefined && !/^https?:\/\//.test(settings.kubeServer)) {
    read.mistake('KUBE_SERVER is not a URL: write https://HOST:PORT');
  }
  const mistakes = read.mistakes();
  if (mistakes.length > 0) {
    throw new GitopsError('SETTINGS_INVALID', `the agent cannot start: ${mistakes.join('; ')}`, {
      disposition: { kind: 'stalled', until: 'operator' },
    });
  }
  return Object.freeze(settings);
}

function path(read: EnvReader, name: string, fallback?: string): string | undefined {
  const value = read.optional(name) ?? fallback;
  if (value !== undefined && !isAbsolute(value)) read.mistake(`${name}=${value} is not an absolute path`);
  return value;
}

/** Port 0 and no port both mean that metrics are off. */
function metricsIn(read: EnvReader): AgentSettings['metrics'] {
  const port = read.integer('METRICS_PORT', 0);
  const host = read.text('METRICS_HOST', '127.0.0.1');
  if (port > 65_535) read.mistake(`METRICS_PORT=${port} is not a valid port`);
  return port === 0 ? undefined : { host, port };
}

function serviceIn(read: EnvReader): ServiceSettings {
  const command = read.optional('KUBELET_RESTART_COMMAND');
  const unit = read.optional('KUBELET_SERVICE');
  const pidFile = path(read, 'KUBELET_PID_FILE');
  if (command !== undefined && unit !== undefined) {
    read.mistake('KUBELET_SERVICE and KUBELET_RESTART_COMMAND are both set: choose one way to restart the kubelet');
  }
  if (pidFile !== undefined && command === undefined) {
    read.mistake('KUBELET_PID_FILE goes with KUBELET_RESTART_COMMAND, which is not set');
  }
  if (command !== undefined) return { manager: 'command', command, pidFile };
  if (unit !== undefined && !/^(?!-)[\w@.:\\-]+\.service$/.test(unit))
    read.mistake(`KUBELET_SERVICE=${unit} is not a unit: write kubelet.service`);
  if (unit?.endsWith('@.service') === true) read.mistake(`KUBELET_SERVICE=${unit} is a template: name its instance`);
  return { manager: 'systemd', unit };
}

function guardIn(read: EnvReader, service: ServiceSettings): GuardSettings {
  const asked = read.oneOf('GUARD', ['on', 'off'], service.manager === 'systemd' ? 'on' : 'off');
  const unitDirectory = path(read, 'KUBELET_UNIT_DIR');
  if (service.manager === 'command') {
    const needs = 'needs a kubelet under systemd, and KUBELET_RESTART_COMMAND is set';
    if (asked === 'on') read.mistake(`GUARD=on ${needs}`);
    if (unitDirectory !== undefined) read.mistake(`KUBELET_UNIT_DIR ${needs}`);
    return {
      guard: 'off',
      why: 'the kubelet is restarted by a command, and nobody but the agent can follow its starts',
    };
  }
  if (asked === 'off') return { guard: 'off', why: 'GUARD=off is set' };
  return { guard: 'on', unitDirectory };
}
