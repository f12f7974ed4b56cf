import type { Distribution } from '#shared/contract/distributions.ts';
import { localConfig } from '../node-files.ts';
import type { NodePorts } from '../node-paths.ts';

type FileText = string | { readonly text: string; readonly mode: number };

/** How a distribution lays a node out, with the program `kubelet-starter` in place of its own. */
export interface Layout {
  readonly unit: string;
  readonly unitText: string;
  /** Paths of the program on the node. It does what the last part is called. */
  readonly programs: readonly string[];
  /** The kubelet's own config and flags, as the distribution or its user writes them. */
  readonly files: (ports: NodePorts) => Readonly<Record<string, FileText>>;
  /** What the unit reads the program's variables from at each start. */
  readonly environmentFile: string;
  /** Whether the container runtime has a unit of its own. */
  readonly hasContainerdUnit: boolean;
  /** A line in the unit's log for each start of its program, `undefined` where only systemd says so. */
  readonly startLine: string;
  /** Where the kubelet has its files, as the chart sets it. */
  readonly paths: Omit<Distribution, 'title' | 'unit' | 'serverUnit' | 'dataDirectory'>;
  /** Of the certificate that the kubelet serves with. */
  readonly certificate: string;
  /** Of the distribution, behind the kubelet's own. */
  readonly version: string;
}

/** The agent's settings that the chart makes of `shared/contract/distributions.ts`. */
export function agentSettings({ unit, paths }: Layout): Readonly<Record<string, string>> {
  const settings = {
    KUBELET_SERVICE: unit,
    KUBELET_CONFIG_FILE: paths.configFile,
    KUBELET_CONFIG_DIR: paths.configDirectory,
    KUBELET_ROOT_DIR: paths.rootDirectory,
    KUBELET_SERVING_CERTS: paths.servingCertificate,
    KUBELET_LOG_FILE: paths.logFile,
  };
  return Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/** What a kubelet needs on these machines that the distribution's own files do not say. */
export function ownConfig(ports: NodePorts): Readonly<Record<string, unknown>> {
  const { authentication: _, authorization: __, readOnlyPort: ___, ...own } = localConfig(ports);
  return own;
}

/** The same of a distribution whose files leave everything to it. */
export function wholeConfig(ports: NodePorts, runtimeSocket: string): Readonly<Record<string, unknown>> {
  const { authentication, authorization } = localConfig(ports);
  return { ...ownConfig(ports), authentication, authorization, containerRuntimeEndpoint: `unix://${runtimeSocket}` };
}

export const asText = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** `%N` in a unit. */
export const environmentFileOf = (unit: string): string => `/etc/default/${unit.replace(/\.service$/, '')}`;
