import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixedInhibitDelay } from '#agent/preflight/inhibit-delay.ts';
import { hostWith } from './support/host-with.ts';

const ETC = '/etc/systemd/logind.conf.d';

describe('the delay that logind keeps to', () => {
  const rows: readonly (readonly [
    what: string,
    files: Readonly<Record<string, string>>,
    seconds: number | undefined,
  ])[] = [
    ['is nobody’s without files', {}, undefined],
    [
      'is the kubelet’s own before its file',
      { [`${ETC}/50-a.conf`]: '[Login]\nInhibitDelayMaxSec=5\n', [`${ETC}/99-kubelet.conf`]: 'InhibitDelayMaxSec=7' },
      undefined,
    ],
    ['is of a file behind it', { [`${ETC}/99-z.conf`]: '[Login]\nInhibitDelayMaxSec = 1min 30s\n' }, 90],
    [
      'is of the last one',
      { [`${ETC}/zz.conf`]: 'InhibitDelayMaxSec=5', '/usr/lib/systemd/logind.conf.d/zzz.conf': 'InhibitDelayMaxSec=6' },
      6,
    ],
    [
      'is of the first directory with that name',
      { '/usr/lib/systemd/logind.conf.d/zz.conf': 'InhibitDelayMaxSec=6', [`${ETC}/zz.conf`]: 'InhibitDelayMaxSec=5' },
      5,
    ],
    [
      'is of the last line',
      { [`${ETC}/zz.conf`]: 'InhibitDelayMaxSec=5\n#InhibitDelayMaxSec=1\nInhibitDelayMaxSec=500ms' },
      0.5,
    ],
    ['is not guessed', { [`${ETC}/zz.conf`]: 'InhibitDelayMaxSec=infinity' }, undefined],
    ['is of nothing but .conf', { [`${ETC}/zz.conf.bak`]: 'InhibitDelayMaxSec=5' }, undefined],
  ];
  for (const [what, files, seconds] of rows) {
    it(what, async () => {
      assert.equal((await fixedInhibitDelay(await hostWith(files)))?.seconds, seconds);
    });
  }
});
