import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idsOfPods, subordinateIdsOf } from '#agent/preflight/user-ids.ts';
import { hostWith } from './support/host-with.ts';

const USER = { '/etc/passwd': 'root:x:0:0::/root:/bin/sh\nkubelet:x:998:998::/:/bin/false\n' };
const TOOL = { '/usr/bin/getsubids': '' };
const RANGE = 'alice:100000:65536\nkubelet:65536:2147483648\n';
const RANGES = { '/etc/subuid': RANGE, '/etc/subgid': RANGE };

describe('the subordinate ids of the kubelet', () => {
  const rows: readonly (readonly [string, Readonly<Record<string, string>>, unknown])[] = [
    ['are one range in both files', { ...USER, ...TOOL, ...RANGES }, { first: 65_536, length: 2_147_483_648 }],
    [
      'may stand behind the number of the user',
      { ...USER, ...TOOL, '/etc/subuid': '998:1:2\n', '/etc/subgid': '998:1:2\n' },
      { first: 1, length: 2 },
    ],
    ['are none without such a user', { '/etc/passwd': 'kubelet2:x:1:1::/:/\n', ...TOOL, ...RANGES }, 'none'],
    ['are not known without users', { ...TOOL, ...RANGES }, undefined],
    [
      'nor where users come from elsewhere',
      { '/etc/passwd': 'root:x:0:0::/:/\n', '/etc/nsswitch.conf': 'passwd: files systemd sss\n' },
      undefined,
    ],
    [
      'systemd has no such user',
      { '/etc/passwd': 'root:x:0:0::/:/\n', '/etc/nsswitch.conf': 'passwd: files systemd\n' },
      'none',
    ],
    [
      'nor where ranges do',
      { ...USER, ...TOOL, ...RANGES, '/etc/nsswitch.conf': 'passwd: files\nsubid: sss\n' },
      undefined,
    ],
    ['nor without the tool that the kubelet asks', { ...USER, ...RANGES }, undefined],
    ['nor where the files differ', { ...USER, ...TOOL, ...RANGES, '/etc/subgid': 'kubelet:65536:65536\n' }, undefined],
    [
      'nor where there are two',
      {
        ...USER,
        ...TOOL,
        '/etc/subuid': `${RANGE}kubelet:1:2\n`,
        '/etc/subgid': `${RANGE}kubelet:1:2\n`,
      },
      undefined,
    ],
  ];
  for (const [what, files, expected] of rows)
    it(what, async () => {
      assert.deepEqual(await subordinateIdsOf(await hostWith(files)), expected);
    });
});

describe('the user ids of pods', () => {
  it('are those that the kubelet wrote beside their volumes', async () => {
    // As writeMappingsToFile of pkg/kubelet/userns does.
    const mapping = (length: number): string => {
      const mappings = [{ hostId: 131_072, containerId: 0, length }];
      return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
    };
    const host = await hostWith({
      '/kubelet/pods/a/userns': mapping(131_072),
      '/kubelet/pods/b/etc-hosts': '127.0.0.1 localhost\n',
      '/kubelet/pods/c/userns': mapping(65_536),
      '/kubelet/pods/d/userns': '{',
    });
    assert.deepEqual(new Set(await idsOfPods('/kubelet', host)), new Set([131_072, 65_536]));
    assert.deepEqual(await idsOfPods('/nowhere', host), []);
  });
});
