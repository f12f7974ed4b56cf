import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { args, found, checkRows } from '../support/on-host.ts';

const ENDPOINT = { containerRuntimeEndpoint: 'unix:///run/c.sock' };
const NO_SOCKET = { paths: new Map([['/run/c.sock', 'missing' as const]]) };

describe('preflight of files and sockets', () => {
  checkRows([
    ['no runtime', ENDPOINT, NO_SOCKET, ['error runtime-missing containerRuntimeEndpoint']],
    [
      'a runtime that the kubelet has already, and that is away',
      ENDPOINT,
      { ...NO_SOCKET, ownRuntimes: new Set([ENDPOINT.containerRuntimeEndpoint]) },
      ['error runtime-away containerRuntimeEndpoint'],
    ],
    [
      'no runtime where the kubelet has another',
      ENDPOINT,
      { ...NO_SOCKET, ownRuntimes: new Set(['unix:///run/other.sock', undefined]) },
      ['error runtime-missing containerRuntimeEndpoint'],
    ],
    [
      'files that are not there',
      { authentication: { x509: { clientCAFile: '/ca' } }, resolvConf: '/r', staticPodPath: '/pods' },
      {
        paths: new Map([
          ['/ca', 'missing'],
          ['/r', 'missing'],
          ['/pods', 'missing'],
        ]),
      },
      [
        'error path-missing authentication.x509.clientCAFile',
        'warning path-missing resolvConf',
        'warning path-missing staticPodPath',
      ],
    ],
    [
      'a directory in place of a file',
      { tlsCertFile: '/c', tlsPrivateKeyFile: '/k' },
      {
        paths: new Map([
          ['/c', 'directory'],
          ['/k', 'file'],
        ]),
      },
      ['error path-missing tlsCertFile'],
    ],
    [
      'a file in the way of logs',
      { podLogsDir: '/var/log/pods' },
      { paths: new Map([['/var/log/pods', 'file']]) },
      ['error path-missing podLogsDir'],
    ],
    [
      'a directory of logs that can be made',
      { podLogsDir: '/var/log/pods' },
      { paths: new Map([['/var/log/pods', 'missing']]) },
      [],
    ],
    [
      'no service of images',
      { imageServiceEndpoint: '/run/i.sock' },
      { paths: new Map([['/run/i.sock', 'missing']]) },
      ['error runtime-missing imageServiceEndpoint'],
    ],
    [
      'one that the kubelet has already',
      { imageServiceEndpoint: '/run/i.sock' },
      { paths: new Map([['/run/i.sock', 'missing']]), present: { imageServiceEndpoint: '/run/i.sock' } },
      ['error runtime-away imageServiceEndpoint'],
    ],
    [
      'a socket where the kubelet reads it, behind the host of the URL',
      { containerRuntimeEndpoint: 'unix://run/c.sock' },
      { paths: new Map([['/c.sock', 'missing']]) },
      ['error runtime-missing containerRuntimeEndpoint'],
    ],
  ]);

  const RELATIVE = { tlsCertFile: 'pki/a.crt', tlsPrivateKeyFile: '/k' };
  const NO_CERT = { paths: new Map([['/var/lib/kubelet/pki/a.crt', 'missing' as const]]) };

  it('looks for a relative path beside the config file', () => {
    assert.deepEqual(found(RELATIVE, { ...NO_CERT, ...args() }), ['error path-missing tlsCertFile']);
  });

  it('does not where the kubelet reads the file by another path, or a drop-in or a flag has it', () => {
    const elsewhere = { ...NO_CERT, kubeletArgs: ['--config=/etc/link/config.yaml'] };
    const ofDropIn = { ...NO_CERT, ...args('--config-dir=/etc/d') };
    for (const said of [
      found(RELATIVE, elsewhere),
      found(RELATIVE, ofDropIn, 34, { asDropIn: true, configDirectory: '/etc/d' }),
      found(RELATIVE, { ...NO_CERT, ...args() }, 34, { fromFiles: {} }),
    ])
      assert.deepEqual(
        said.filter((finding) => finding.includes('path-missing')),
        [],
      );
  });

  it('takes a runtime that the assignment does not name for one that the kubelet has already', () => {
    assert.deepEqual(found(ENDPOINT, NO_SOCKET, 34, { assigned: {} }), ['error runtime-away containerRuntimeEndpoint']);
  });
});
