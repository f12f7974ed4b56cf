import { describe } from 'node:test';
import { checkRows } from '../support/on-host.ts';

describe('preflight of what the agent could no longer see', () => {
  checkRows([
    ['no health endpoint', { healthzPort: 0 }, {}, ['error health-unseen healthzPort']],
    ['no server', { enableServer: false }, {}, ['warning api-unseen enableServer']],
    [
      'no tokens',
      { authentication: { webhook: { enabled: false } } },
      {},
      ['warning api-unseen authentication.webhook.enabled'],
    ],
    ['a foreign address', { address: '10.9.9.9' }, { addresses: ['10.0.0.1'] }, ['error no-such-address address']],
    [
      'an address of its own',
      { address: '10.0.0.1', healthzBindAddress: '127.0.0.1' },
      { addresses: ['10.0.0.1'] },
      [],
    ],
    [
      'a port that is taken',
      { port: 9100 },
      { listening: new Set([9100, 10_250]), ownPorts: new Set([10_250]) },
      ['error port-taken port'],
    ],
    ['its own ports', {}, { listening: new Set([10_248, 10_250]), ownPorts: new Set([10_248, 10_250]) }, []],
  ]);
});
