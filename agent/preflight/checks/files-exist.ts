import { dirname, join } from 'node:path';
import { type ConfigView, valueAt } from '#shared/contract/kubelet-config/config-view.ts';
import { runtimeEndpoint } from '#shared/contract/kubelet-config/syntax/runtime-endpoint.ts';
import { type Check, refuse, warn } from '../preflight-check.ts';
import type { ConfigForHost } from '../host-facts.ts';
import type { HostPathKind } from '../../host/host-files.ts';
import { parseFlags } from '../../kubelet/flags.ts';

const RUNTIME = 'containerRuntimeEndpoint';
const IMAGES = 'imageServiceEndpoint';

interface PathRule {
  readonly field: string;
  readonly wants: readonly HostPathKind[];
  /** Whether the kubelet starts without it. */
  readonly fatal: boolean;
  readonly why: string;
}

/** What becomes of a kubelet whose files are not there (cmd/kubelet/app/server.go, 1.20 to 1.36). */
const RULES: readonly PathRule[] = [
  {
    field: 'authentication.x509.clientCAFile',
    wants: ['file'],
    fatal: true,
    why: 'the kubelet does not start without the authority of its clients',
  },
  { field: 'tlsCertFile', wants: ['file'], fatal: true, why: 'the kubelet does not serve without its certificate' },
  { field: 'tlsPrivateKeyFile', wants: ['file'], fatal: true, why: 'the kubelet does not serve without its key' },
  {
    field: 'podLogsDir',
    wants: ['directory', 'missing'],
    fatal: true,
    why: 'the kubelet does not start where it cannot make it',
  },
  { field: 'resolvConf', wants: ['file'], fatal: false, why: 'pods that take the node’s DNS would not start' },
  { field: 'staticPodPath', wants: ['directory', 'file'], fatal: false, why: 'no static pods would run' },
];

/** Only what is written down: a default may be overruled by flags that cannot be seen here. */
const setText = (view: ConfigView, field: string): string => (view.isSet(field) ? (view.text(field) ?? '') : '');

/** A relative path of the config file starts at its directory; where one of a drop-in or a flag does is not known. */
function pathOf(candidate: ConfigForHost, field: string): string {
  const { view, fromFiles, assigned, configFile, asDropIn } = candidate;
  const path = setText(view, field);
  if (path === '' || path.startsWith('/')) return path;
  const isOfFile = valueAt(fromFiles, field) === path && !(asDropIn && valueAt(assigned, field) !== undefined);
  return isOfFile && configFile !== undefined ? join(dirname(configFile), path) : '';
}

/** Paths of the config to look at. */
export function namedPaths(candidate: ConfigForHost): readonly string[] {
  const sockets = [RUNTIME, IMAGES].flatMap((field) => socketOf(setText(candidate.view, field)) ?? []);
  const paths = RULES.map(({ field }) => pathOf(candidate, field)).filter((path) => path !== '');
  return [...new Set([...paths, ...sockets])];
}

export const filesExist: Check = (candidate, { paths, kubeletArgs = [] }) =>
  RULES.flatMap(({ field, wants, fatal, why }) => {
    const path = pathOf(candidate, field);
    const kind = paths.get(path);
    if (kind === undefined || wants.includes(kind)) return [];
    // It may read the same file by another path.
    const read = parseFlags(kubeletArgs).findLast(([flag]) => flag === 'config')?.[1];
    if (path !== setText(candidate.view, field) && read !== candidate.configFile) return [];
    const what = kind === 'missing' ? `there is no ${path} on this node` : `${path} is no ${wants[0]} on this node`;
    return [(fatal ? refuse : warn)('path-missing', field, `${what}: ${why}`)];
  });

/** `unix:///run/containerd/containerd.sock` and the bare path mean the same. */
function socketOf(address: string): string | undefined {
  const url = runtimeEndpoint(address);
  return url?.scheme === 'unix' && url.path !== '' ? url.path : undefined;
}

/** A runtime that the kubelet has already is only away: it is restarted, or the machine goes down. */
export const runtimeAnswers: Check = (candidate, facts) => {
  const endpoint = setText(candidate.view, RUNTIME);
  return answers(RUNTIME, 'a container runtime', facts.ownRuntimes.has(endpoint))(candidate, facts);
};

/** The images' service may be another one (`PreInitRuntimeService`). */
export const imagesAnswer: Check = (candidate, facts) => {
  const isOwn = facts.present?.[IMAGES] === setText(candidate.view, IMAGES);
  return answers(IMAGES, 'the service of its images', isOwn)(candidate, facts);
};

const answers =
  (field: string, what: string, isOwn: boolean): Check =>
  ({ view, assigned }, { paths }) => {
    const socket = socketOf(setText(view, field));
    const kind = socket === undefined ? undefined : paths.get(socket);
    if (kind === undefined || kind === 'socket') return [];
    const message = `there is no socket ${socket} on this node: the kubelet does not start without ${what}`;
    if (assigned[field] === undefined || isOwn) return [refuse('runtime-away', field, message)];
    return [refuse('runtime-missing', field, message, 'name the socket of the runtime that runs')];
  };
