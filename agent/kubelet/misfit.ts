import { access, constants, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DISTRIBUTIONS, type Distribution } from '#shared/contract/distributions.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { parseFlags } from './flags.ts';
import type { HostFiles } from '../host/host-files.ts';
import type { CommandLine } from '../ports/command-line.ts';
import type { FoundUnit } from './find-unit.ts';
import type { Layout } from './layout.ts';

/** Why settings are not those of this node's kubelet, and which would be, in a sentence. */
export type Misfit = string | undefined;

export const whyOtherUnit = (unit: string, found: FoundUnit | undefined): Misfit =>
  found === undefined || !found.isRunning || found.unit === unit
    ? undefined
    : `this node's kubelet runs in ${found.unit}, and the agent is set to ${unit}: ${advice(`KUBELET_SERVICE=${found.unit}`, found.unit, [])}`;

/** A kubelet that reads other files would never hear of a config. */
export async function whyUnread(
  { configFile, configDirectory, rootDirectory }: Layout,
  unit: string,
  line: CommandLine | undefined,
  files: Pick<HostFiles, 'real'>,
): Promise<Misfit> {
  if (line === undefined) return undefined;
  const flags = new Map(parseFlags(line.args));
  const real = async (path: string): Promise<string> => (await files.real(resolve('/', path))) ?? resolve('/', path);
  const rows = [
    ['config', 'KUBELET_CONFIG_FILE', configFile],
    ['config-dir', 'KUBELET_CONFIG_DIR', configDirectory],
    ['root-dir', 'KUBELET_ROOT_DIR', rootDirectory],
  ] as const;
  for (const [flag, setting, path] of rows) {
    const read = flags.get(flag) || undefined;
    const isDefault = read === undefined && flag === 'root-dir';
    // What was not seen may be a default of the program that runs the kubelet.
    if (path === undefined || isDefault || (read === undefined && line.seenIn === 'files')) continue;
    if (read !== undefined && (await real(read)) === (await real(path))) continue;
    const [started, set] =
      read === undefined
        ? [`without --${flag}`, `leave ${setting} unset, or start the kubelet with --${flag}=${path}`]
        : [`with --${flag}=${read}`, `${setting}=${read}`];
    return `this node's kubelet was started ${started}, and the agent is set to ${path}: ${advice(set, unit, line.args)}`;
  }
  return undefined;
}

/** A directory that the agent writes to has to be the host's, at the same path: mounted, and not read-only. */
export async function whyNotMounted(
  { configFile, configDirectory }: Layout,
  unit: string,
  line: CommandLine | undefined,
  host: { readonly root: string; readonly files: Pick<HostFiles, 'real'> },
): Promise<Misfit> {
  const written = configDirectory ?? (configFile === undefined ? undefined : dirname(configFile));
  if (written === undefined || host.root === '/') return undefined;
  const real = await host.files.real(written);
  const there = real === undefined ? undefined : await stat(join(host.root, real)).catch(() => undefined);
  if (there === undefined) return undefined;
  const here = await stat(written).catch(() => undefined);
  const isSame = here?.dev === there.dev && here.ino === there.ino;
  const set = advice(`mount ${written} at the same path`, unit, line?.args ?? []);
  if (!isSame) return `${written} of the host is not mounted into the agent's pod: ${set}`;
  const refusal = await access(written, constants.W_OK).catch((error: unknown) => codeOf(error) ?? 'EACCES');
  return refusal === undefined ? undefined : `the agent cannot write to ${written} (${refusal}): ${set}`;
}

/** The setting, or the distribution that brings it. */
function advice(setting: string, unit: string, args: readonly string[]): string {
  const flags = new Map(parseFlags(args));
  const known: readonly (readonly [string, Distribution])[] = Object.entries(DISTRIBUTIONS);
  const found = known.find(
    ([, each]) =>
      (each.unit === unit || each.serverUnit === unit) &&
      (each.configFile === flags.get('config') || each.unit !== 'kubelet.service'),
  );
  return found === undefined
    ? setting
    : `${setting}; the chart's distribution: ${found[0]}, or that component, does it`;
}
