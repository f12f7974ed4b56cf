import type { ConfigView } from '#shared/contract/kubelet-config/config-view.ts';
import { type Check, refuse, warn } from '../preflight-check.ts';
import type { ConfigForHost } from '../host-facts.ts';
import type { HostPathKind } from '../../host/host-files.ts';

const RUNTIME = 'containerRuntimeEndpoint';

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
  { field: 'resolvConf', wants: ['file'], fatal: false, why: 'pods that take the node’s DNS would not start' },
  { field: 'staticPodPath', wants: ['directory', 'file'], fatal: false, why: 'no static pods would run' },
];

/** Only what is written down: a default may be overruled by flags that cannot be seen here. */
const setText = (view: ConfigView, field: string): string => (view.isSet(field) ? (view.text(field) ?? '') : '');

/** Paths of the config to look at. Relative ones are left out: they start at the file that they are written in. */
export function namedPaths({ view }: Pick<ConfigForHost, 'view'>): readonly string[] {
  const endpoint = runtimeSocket(setText(view, RUNTIME));
  const paths = RULES.map(({ field }) => setText(view, field)).filter((path) => path.startsWith('/'));
  return endpoint === undefined ? paths : [...paths, endpoint];
}

export const filesExist: Check = ({ view }, { paths }) =>
  RULES.flatMap(({ field, wants, fatal, why }) => {
    const path = setText(view, field);
    const kind = paths.get(path);
    if (kind === undefined || wants.includes(kind)) return [];
    const what = kind === 'missing' ? `there is no ${path} on this node` : `${path} is no ${wants[0]} on this node`;
    return [(fatal ? refuse : warn)('path-missing', field, `${what}: ${why}`)];
  });

/** `unix:///run/containerd/containerd.sock` and the bare path mean the same. */
function runtimeSocket(endpoint: string): string | undefined {
  const path = endpoint.replace(/^unix:\/\//, '');
  return path.startsWith('/') ? path : undefined;
}

/** A runtime that the kubelet has already is only away: it is restarted, or the machine goes down. */
export const runtimeAnswers: Check = ({ view, assigned }, { paths, ownRuntimes }) => {
  const endpoint = setText(view, RUNTIME);
  const socket = runtimeSocket(endpoint);
  const kind = socket === undefined ? undefined : paths.get(socket);
  if (kind === undefined || kind === 'socket') return [];
  const message = `there is no socket ${socket} on this node: the kubelet does not start without a container runtime`;
  if (assigned[RUNTIME] === undefined || ownRuntimes.has(endpoint)) return [refuse('runtime-away', RUNTIME, message)];
  return [refuse('runtime-missing', RUNTIME, message, 'name the socket of the runtime that runs')];
};
