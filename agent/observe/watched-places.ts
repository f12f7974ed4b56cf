import { basename, dirname, join } from 'node:path';
import type { WatchedPlace } from '../host/disk/watch-files.ts';
import type { Layout } from '../kubelet/layout.ts';

/**
 * What a node at rest wants to hear of: the kubelet's files, the copies that they can be put back from, and the guard's
 * note. Nothing that the agent itself writes at every look is among them, or it would never rest.
 */
export function watchedPlaces(
  stateDirectory: string,
  { configFile, configDirectory }: Pick<Layout, 'configFile' | 'configDirectory'>,
): readonly WatchedPlace[] {
  const only =
    (...names: readonly string[]) =>
    (name: string): boolean =>
      names.includes(name);
  const file: readonly WatchedPlace[] =
    configFile === undefined ? [] : [{ directory: dirname(configFile), hears: only(basename(configFile)) }];
  const state: readonly WatchedPlace[] = [
    { directory: join(stateDirectory, 'local'), hears: only('kubelet', 'record') },
    // A checkpoint goes with its directory.
    { directory: join(stateDirectory, 'checkpoints'), hears: () => true },
    { directory: join(stateDirectory, 'guard'), hears: only('plan', 'fired') },
  ];
  if (configDirectory === undefined) return [...file, ...state];
  // The node's own drop-ins make a difference, too. What is about to be renamed never ends like this.
  return [...file, { directory: configDirectory, hears: (name) => name.endsWith('.conf') }, ...state];
}
