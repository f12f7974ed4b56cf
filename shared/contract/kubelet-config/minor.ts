/** Oldest and newest minor version (of Kubernetes 1.x) that the tables know. */
export const OLDEST_MINOR = 20;
export const NEWEST_MINOR = 37;

/** `1.34` or `v1.34.2` → 34; undefined where the text is no version of Kubernetes 1.x. */
export function minorNumber(version: string): number | undefined {
  const match = /^v?1\.(\d{1,3})(?:$|[.+-])/.exec(version);
  return match === null ? undefined : Number(match[1]);
}

export const minorName = (minor: number): string => `1.${minor}`;
