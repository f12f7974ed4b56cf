import { join } from 'node:path';
import type { HostFiles } from '../host/host-files.ts';

/** Where logind looks, the first one first: a name that is in several is read from there (logind.conf(5)). */
const DIRECTORIES = ['/etc/systemd/logind.conf.d', '/run/systemd/logind.conf.d', '/usr/lib/systemd/logind.conf.d'];
/** The kubelet writes its own wish there (nodeshutdown, `OverrideInhibitDelay`). What comes after it wins. */
const OF_THE_KUBELET = '99-kubelet.conf';
const MOST_BYTES = 64 * 1024;

export interface InhibitDelay {
  readonly path: string;
  readonly seconds: number;
}

/** The delay that logind keeps whatever a kubelet asks of it; undefined where a kubelet has its way. */
export async function fixedInhibitDelay(files: HostFiles): Promise<InhibitDelay | undefined> {
  const paths = new Map<string, string>();
  for (const directory of DIRECTORIES.toReversed()) {
    for (const name of (await files.names(directory)) ?? []) {
      if (name.endsWith('.conf') && name > OF_THE_KUBELET) paths.set(name, join(directory, name));
    }
  }
  const last = [...paths].toSorted(([one], [other]) => (one < other ? 1 : -1)).map(([, path]) => path);
  for (const path of last) {
    const lines = ((await files.text(path, MOST_BYTES)) ?? '').split('\n').map((line) => line.split('='));
    const seconds = secondsOf(lines.findLast(([key = '']) => key.trim() === 'InhibitDelayMaxSec')?.[1] ?? '');
    if (seconds !== undefined) return { path, seconds };
  }
  return undefined;
}

const UNITS: Readonly<Record<string, number>> = { '': 1, s: 1, sec: 1, min: 60, m: 60, h: 3600, ms: 0.001 };

/** A span as systemd.time(7) has it: `30`, `1min 30s`. Undefined for what this does not know. */
function secondsOf(text: string): number | undefined {
  const parts = text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const [, count = '', unit = ''] = /^(\d+)([a-z]*)$/.exec(part) ?? [];
      return count === '' ? NaN : Number(count) * (UNITS[unit] ?? NaN);
    });
  const sum = parts.reduce((whole, part) => whole + part, 0);
  return Number.isNaN(sum) ? undefined : sum;
}
