import { fieldOfFlag, flagSays } from '#shared/contract/kubelet-config/fields/flags.ts';
import { valueAt } from '#shared/contract/kubelet-config/config-view.ts';
import { parseFlags } from '../../kubelet/flags.ts';
import { type Check, refuse } from '../preflight-check.ts';

/** Flags of maps and lists are not laid over the config, so that where one of them is used nothing can be said. */
export const usesFlag = (args: readonly string[], ...flags: readonly string[]): boolean =>
  parseFlags(args).some(([flag]) => flags.includes(flag));

/** A flag on the command line wins over every file, so that the assignment would have no effect and fail its trial. */
export const flagsOverride: Check = ({ assigned }, { kubeletArgs = [] }) =>
  parseFlags(kubeletArgs).flatMap(([flag, value]) => {
    const field = fieldOfFlag(flag);
    const wanted = field === undefined ? undefined : valueAt(assigned, field);
    if (field === undefined || wanted === undefined || wanted === null) return [];
    if (flagSays(field, value, wanted)) return [];
    const message = `the kubelet's flag --${flag}=${value} wins over ${field}: ${JSON.stringify(wanted)}`;
    return [
      refuse('flag-shadows', field, message, 'take the flag off the command line, or the field out of the config'),
    ];
  });

/** A kubelet that reads another file would never hear of the config. */
export const configIsRead: Check = ({ configFile, configDirectory, asDropIn }, { kubeletArgs, realPaths }) => {
  if (kubeletArgs === undefined) return [];
  const flags = new Map(parseFlags(kubeletArgs));
  const [flag, setting, wanted] = asDropIn
    ? (['config-dir', 'KUBELET_CONFIG_DIR', configDirectory] as const)
    : (['config', 'KUBELET_CONFIG_FILE', configFile] as const);
  // Nothing is installed into a file that the kubelet does not have.
  if (wanted === undefined) return [];
  const read = flags.get(flag);
  const real = (path: string | undefined): string | undefined => realPaths.get(path ?? '') ?? path;
  if (real(read) === real(wanted)) return [];
  const message =
    read === undefined
      ? `the kubelet of this node was started without --${flag}: it does not read ${wanted}`
      : `the kubelet of this node was started with --${flag}=${read}: it does not read ${wanted}`;
  const suggestion = read === undefined ? `start it with --${flag}=${wanted}` : `set ${setting}=${read} on the agent`;
  return [refuse('config-not-read', 'kind', message, suggestion)];
};
