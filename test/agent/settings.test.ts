import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAgentSettings } from '#agent/settings.ts';
import { addressOf } from '#agent/kubelet/kubelet-address.ts';
import { VERSION } from '#shared/runtime/version.ts';

const mistakesIn = (env: Readonly<Record<string, string>>): string => {
  try {
    readAgentSettings(env);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return '';
};

describe('the settings of an agent', () => {
  it('need no more than the name of the node', () => {
    assert.deepEqual(readAgentSettings({ NODE_NAME: 'node-1' }), {
      nodeName: 'node-1',
      stateDirectory: '/var/lib/kubelet-gitops',
      layout: { configFile: undefined, configDirectory: undefined, rootDirectory: undefined },
      hostRoot: '/',
      kubeletServingCerts: undefined,
      kubeletLogFile: undefined,
      service: { manager: 'systemd', unit: undefined },
      guard: { guard: 'on', unitDirectory: undefined },
      mode: 'run',
      kubeServer: undefined,
      kubeCredentialsDirectory: undefined,
      proxy: { http: undefined, https: undefined, except: '' },
      denyFields: [],
      metrics: undefined,
      logLevel: 'info',
      agentVersion: VERSION,
    });
  });

  it('take fields that are denied on this node, and no words that are none', () => {
    const denied = (fields: string) => readAgentSettings({ NODE_NAME: 'n', DENY_FIELDS: fields }).denyFields;
    assert.deepEqual(denied('featureGates, cpuManagerPolicy,authentication.webhook'), [
      'featureGates',
      'cpuManagerPolicy',
      'authentication.webhook',
    ]);
    assert.deepEqual(denied('default,maxPods'), ['default', 'maxPods']);
    assert.match(mistakesIn({ NODE_NAME: 'n', DENY_FIELDS: 'maxPodz' }), /DENY_FIELDS: maxPodz is not a field/);
  });

  it('serve metrics where a port is given, to the machine alone unless an address is', () => {
    const metrics = (env: Readonly<Record<string, string>>) => readAgentSettings({ NODE_NAME: 'n', ...env }).metrics;
    assert.equal(metrics({ METRICS_PORT: '' }), undefined);
    assert.equal(metrics({ METRICS_PORT: '0' }), undefined);
    assert.deepEqual(metrics({ METRICS_PORT: '9469' }), { host: '127.0.0.1', port: 9469 });
    assert.deepEqual(metrics({ METRICS_PORT: '1', METRICS_HOST: '10.0.0.1' }), { host: '10.0.0.1', port: 1 });
    assert.match(mistakesIn({ NODE_NAME: 'n', METRICS_PORT: '70000' }), /METRICS_PORT=70000 is not a valid port/);
  });

  it('take a command in place of a unit', () => {
    const { service } = readAgentSettings({
      NODE_NAME: 'n',
      KUBELET_RESTART_COMMAND: 'kill -HUP 1',
      KUBELET_PID_FILE: '/run/kubelet.pid',
    });
    assert.deepEqual(service, { manager: 'command', command: 'kill -HUP 1', pidFile: '/run/kubelet.pid' });
  });

  it('guard the unit that they name, in the directory that they name, or not at all', () => {
    const guardOf = (env: Readonly<Record<string, string>>) => readAgentSettings({ NODE_NAME: 'n', ...env }).guard;
    assert.deepEqual(guardOf({ KUBELET_SERVICE: 'k3s.service' }), { guard: 'on', unitDirectory: undefined });
    assert.deepEqual(guardOf({ KUBELET_UNIT_DIR: '/run/systemd/system/kubelet.service.d' }), {
      guard: 'on',
      unitDirectory: '/run/systemd/system/kubelet.service.d',
    });
    assert.deepEqual(guardOf({ GUARD: 'off' }), { guard: 'off', why: 'GUARD=off is set' });
    assert.equal(guardOf({ KUBELET_RESTART_COMMAND: 'true' }).guard, 'off');
    assert.match(
      mistakesIn({ NODE_NAME: 'n', KUBELET_RESTART_COMMAND: 'true', GUARD: 'on', KUBELET_UNIT_DIR: '/x' }),
      /GUARD=on needs a kubelet under systemd.*; KUBELET_UNIT_DIR needs/,
    );
  });

  it('take empty text for not set', () => {
    assert.equal(readAgentSettings({ NODE_NAME: 'n', KUBELET_CONFIG_DIR: '' }).layout.configDirectory, undefined);
  });

  it('are refused with every mistake at once', () => {
    const message = mistakesIn({
      STATE_DIR: 'state',
      KUBELET_SERVICE: 'kubelet',
      KUBELET_PID_FILE: '/run/kubelet.pid',
      KUBE_SERVER: '10.0.0.1',
      LOG_LEVEL: 'loud',
      MODE: 'remove',
    });
    for (const part of [
      'NODE_NAME is not set',
      'STATE_DIR=state is not an absolute path',
      'KUBELET_SERVICE=kubelet is not a unit',
      'KUBELET_PID_FILE goes with',
      'KUBE_SERVER is not a URL',
      'LOG_LEVEL=loud',
      'MODE=remove',
    ]) {
      assert.ok(message.includes(part), part);
    }
    assert.match(mistakesIn({ NODE_NAME: 'n', KUBELET_SERVICE: '-H.service' }), /is not a unit/);
    assert.match(
      mistakesIn({ NODE_NAME: 'n', KUBELET_SERVICE: 'kubelet@.service' }),
      /is a template: name its instance/,
    );
    assert.match(
      mistakesIn({ NODE_NAME: 'n', KUBELET_SERVICE: 'a.service', KUBELET_RESTART_COMMAND: 'true' }),
      /both set/,
    );
  });
});

describe('where a kubelet is to be found', () => {
  const rows: readonly (readonly [string, Readonly<Record<string, unknown>>, unknown])[] = [
    [
      'in the usual place',
      {},
      { healthz: { host: '127.0.0.1', port: 10248 }, api: { host: '127.0.0.1', port: 10250 } },
    ],
    [
      'where its config says',
      { healthzPort: 1234, healthzBindAddress: '::', port: 4321, address: '10.1.1.1' },
      { healthz: { host: '::1', port: 1234 }, api: { host: '10.1.1.1', port: 4321 } },
    ],
    ['nowhere, where both are switched off', { healthzPort: 0, enableServer: false }, { healthz: null, api: null }],
    [
      'in the usual place where its config makes no sense',
      { healthzPort: 'x', port: 0, address: '0.0.0.0' },
      { healthz: { host: '127.0.0.1', port: 10248 }, api: { host: '127.0.0.1', port: 10250 } },
    ],
  ];
  for (const [title, effective, expected] of rows) {
    it(title, () => {
      assert.deepEqual(addressOf(effective), expected);
    });
  }
});
