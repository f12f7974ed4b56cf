import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { found, checkRows } from '../support/on-host.ts';

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
  ]);

  it('takes a runtime that the assignment does not name for one that the kubelet has already', () => {
    assert.deepEqual(found(ENDPOINT, NO_SOCKET, 34, { assigned: {} }), ['error runtime-away containerRuntimeEndpoint']);
  });
});
