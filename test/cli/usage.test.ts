import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCommandLine } from '#cli/usage.ts';

const rows: readonly (readonly [string, ReturnType<typeof parseCommandLine>])[] = [
  ['', { command: 'help' }],
  ['--help', { command: 'help' }],
  ['status --help', { command: 'help' }],
  ['--version', { command: 'version' }],
  [
    'status',
    {
      command: 'status',
      options: { kubeconfig: undefined, context: undefined, namespace: 'kubelet-gitops', watch: false },
    },
  ],
  [
    'status -w --context prod',
    {
      command: 'status',
      options: { kubeconfig: undefined, context: 'prod', namespace: 'kubelet-gitops', watch: true },
    },
  ],
  ['validate', { command: 'validate', options: { directory: '.', cluster: undefined, kubeletVersions: [] } }],
  [
    'validate repo --kubelet-version 1.33 --kubelet-version 1.34',
    { command: 'validate', options: { directory: 'repo', cluster: undefined, kubeletVersions: ['1.33', '1.34'] } },
  ],
  ['validate a b', { command: 'mistake', message: 'validate takes one directory, and got a b' }],
  [
    'validate --kubelet-version v1.34.2',
    { command: 'mistake', message: '--kubelet-version v1.34.2: write the minor version, 1.34' },
  ],
  ['validate --watch', { command: 'mistake', message: 'validate knows no option --watch' }],
  ['stauts', { command: 'mistake', message: 'there is no command stauts' }],
  ['status --nope', { command: 'mistake', message: "Unknown option '--nope'" }],
];

describe('the command line', () => {
  for (const [line, expected] of rows) {
    it(JSON.stringify(line), () => assert.deepEqual(parseCommandLine(line.split(' ').filter(Boolean)), expected));
  }
});
