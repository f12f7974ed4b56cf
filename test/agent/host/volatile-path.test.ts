import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FileSystemCalls, volatileFileSystemOf, whyForgottenByBoots } from '#agent/host/volatile-path.ts';

const UNITS = '/etc/systemd/system/kubelet.service.d';
const [TMPFS, RAMFS, OVERLAY, EXT4] = [0x01021994, 0x858458f6, 0x794c7630, 0xef53];
/** `makedev(0, 300)` */
const DEVICE = Math.floor(300 / 256) * 2 ** 20 + (300 % 256);

interface Host {
  /** Type and device of each directory that there is. */
  readonly fileSystems: Readonly<Record<string, readonly [type: number, device: number]>>;
  /** Of the overlay on device 0:300. */
  readonly upper?: string;
}

const callsOn = ({ fileSystems, upper }: Host): FileSystemCalls => ({
  async fileSystemOf(path) {
    const [type, device] = fileSystems[path] ?? [];
    if (type === undefined || device === undefined) throw new Error(`no ${path}`);
    return { type, device };
  },
  mounts: () =>
    Promise.resolve(
      `21 1 0:30 / / rw - overlay overlay rw,lowerdir=/x,upperdir=/run/of-another,workdir=/w
38 21 0:300 /systemd/system ${UNITS} rw,relatime shared:1 - overlay overlay rw${upper === undefined ? '' : `,lowerdir=/etc,upperdir=${upper},workdir=/w`}
`,
    ),
});

const overlaid = (upper: string | undefined, others: Host['fileSystems'] = {}): Host => ({
  fileSystems: { '/': [OVERLAY, 30], '/host': [EXT4, 1], [UNITS]: [OVERLAY, DEVICE], ...others },
  ...(upper === undefined ? {} : { upper }),
});
const IN_CONTAINER = { '/host/run/systemd/container': [TMPFS, 5] } as const;

describe('a directory that a boot makes again', () => {
  for (const [what, host, found] of [
    ['a disk', { fileSystems: { '/host': [EXT4, 1], [UNITS]: [EXT4, 1] } }, undefined],
    ['a directory of memory', { fileSystems: { '/host': [EXT4, 1], [UNITS]: [TMPFS, 7] } }, 'tmpfs'],
    ['memory that cannot be swapped', { fileSystems: { '/host': [EXT4, 1], [UNITS]: [RAMFS, 7] } }, 'ramfs'],
    ['memory, below which it has yet to be made', { fileSystems: { '/host': [EXT4, 1], '/etc': [TMPFS, 7] } }, 'tmpfs'],
    ['an overlay in memory (COS)', overlaid('/tmp/etc', { '/host/tmp': [TMPFS, 9] }), 'an overlay'],
    ['an overlay on a disk, named as the initial file system had it (Flatcar)', overlaid('/sysroot/etc'), undefined],
    ['an overlay of a live image, as its root', overlaid('/cow/upper', { '/host': [OVERLAY, DEVICE] }), 'an overlay'],
    ['an overlay without an upper layer', overlaid(undefined), 'an overlay'],
    [
      'the root of a container (kind)',
      overlaid('/home/me/containers/diff', { '/host': [OVERLAY, DEVICE], ...IN_CONTAINER }),
      undefined,
    ],
    [
      'memory as the root of a container',
      { fileSystems: { '/host': [TMPFS, 7], [UNITS]: [TMPFS, 7], ...IN_CONTAINER } },
      undefined,
    ],
    ['memory in a container', { fileSystems: { '/host': [EXT4, 1], [UNITS]: [TMPFS, 7], ...IN_CONTAINER } }, 'tmpfs'],
  ] as readonly (readonly [string, Host, string | undefined])[]) {
    it(`is known by its file system: ${what}`, async () => {
      assert.equal(await volatileFileSystemOf(UNITS, '/host', callsOn(host)), found);
    });
  }

  it('is looked for on this machine, where shared memory is one', async () => {
    assert.equal(await volatileFileSystemOf('/dev/shm/not/there', '/'), 'tmpfs');
  });
});

describe('why a boot would take the guard away', () => {
  const places = { KUBELET_UNIT_DIR: UNITS, STATE_DIR: '/state' };

  it('names the first path with its setting, its file system, and what to do', async () => {
    const ask = async (path: string) => (path === '/state' ? 'tmpfs' : undefined);
    const why = await whyForgottenByBoots(places, ask);
    assert.match(why ?? '', /^\/state \(STATE_DIR\) is on tmpfs, .*GUARD=off$/);
  });

  it('is nothing that cannot be found out', async () => {
    const ask = (path: string) => (path === UNITS ? Promise.reject(new Error('no')) : Promise.resolve(undefined));
    assert.equal(await whyForgottenByBoots(places, ask), undefined);
  });
});
