import type { Disk } from '#agent/ports/disk.ts';
import type { GuardSystemd } from '#agent/guard/guard-systemd.ts';

export interface FakeSystemd extends GuardSystemd {
  readonly asked: string[];
  /** Of each unit, in seconds. */
  startTimeout: number;
  /** From now on it cannot be reached. */
  hangUp(): void;
}

/** Has read of a unit what was there at the last reload, as systemd does. */
export function createFakeSystemd(disk: Pick<Disk, 'stat'>, dropIn: string): FakeSystemd {
  let loaded: readonly string[] = [];
  let isThere = true;
  const asked: string[] = [];
  const hear = (what: string): void => {
    if (!isThere) throw new Error('the bus is gone');
    asked.push(what);
  };
  return {
    asked,
    startTimeout: 90,
    hangUp: () => {
      isThere = false;
    },
    async daemonReload() {
      hear('daemon-reload');
      loaded = (await disk.stat(dropIn)) === null ? [] : [dropIn];
    },
    async stopUnit(name) {
      hear(`stop ${name}`);
    },
    async dropInsOf() {
      if (!isThere) throw new Error('the bus is gone');
      return loaded;
    },
    async startTimeoutOf() {
      if (!isThere) throw new Error('the bus is gone');
      return this.startTimeout;
    },
  };
}
