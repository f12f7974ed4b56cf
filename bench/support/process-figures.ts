import { readFile } from 'node:fs/promises';

/** What a process is made of and what it has used since its start, as the kernel counts it (proc(5)). */
export interface ProcessFigures {
  readonly rssMiB: number;
  /** Pages of its own that it has written to: what is left of it when everything that can be read again is dropped. */
  readonly dirtyMiB: number;
  /** Pages of files as they are on the disk: the binary and its libraries, shared or not. */
  readonly cleanMiB: number;
  readonly cpuSeconds: number;
  /** Bytes that it caused to be written to a disk. */
  readonly writtenBytes: number;
}

/** @throws where the process is gone, or another user's */
export async function figuresOf(pid: number): Promise<ProcessFigures> {
  const read = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'utf8');
  const [smaps, stat, io] = await Promise.all([read('smaps_rollup'), read('stat'), read('io')]);
  const kib = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(smaps)?.[1]) / 1024;
  return {
    rssMiB: kib('Rss'),
    dirtyMiB: kib('Private_Dirty'),
    cleanMiB: kib('Private_Clean') + kib('Shared_Clean'),
    cpuSeconds: cpuSeconds(stat),
    writtenBytes: Number(/^write_bytes: (\d+)/m.exec(io)?.[1]),
  };
}

/** Linux counts in hundredths of a second for its readers, whatever it does inside. */
const TICKS_PER_SECOND = 100;

function cpuSeconds(stat: string): number {
  // The command's name stands in brackets and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
