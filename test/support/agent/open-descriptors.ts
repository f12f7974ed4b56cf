import { readdirSync, readlinkSync } from 'node:fs';

/** The files below a directory that this process has open. */
export function openBelow(directory: string): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return path === directory || path.startsWith(`${directory}/`) ? [path] : [];
    } catch {
      // The one that the list itself was read by.
      return [];
    }
  });
}
