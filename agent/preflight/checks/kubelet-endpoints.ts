import { type Check, refuse, warn } from '../preflight-check.ts';

const ANY: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

/** A kubelet without a health endpoint cannot be judged: a config would be neither promoted nor taken back. */
export const healthEndpointEnabled: Check = ({ view }) =>
  view.number('healthzPort') === 0
    ? [refuse('health-unseen', 'healthzPort', 'without its health endpoint the kubelet cannot be judged on this node')]
    : [];

/** Without /configz the agent judges by health alone. */
export const kubeletApiEnabled: Check = ({ view }) => {
  const blind = 'the agent could not compare what runs with what was meant';
  if (view.flag('enableServer') === false) {
    return [
      warn('api-unseen', 'enableServer', `without the kubelet's server there are no logs and no exec, and ${blind}`),
    ];
  }
  return view.flag('authentication.webhook.enabled') === false
    ? [warn('api-unseen', 'authentication.webhook.enabled', `tokens would not be known to the kubelet: ${blind}`)]
    : [];
};

/** A kubelet that cannot listen ends. */
export const addresses: Check = ({ view }, facts) =>
  (['address', 'healthzBindAddress'] as const).flatMap((field) => {
    const address = view.text(field) ?? '';
    if (facts.addresses === undefined || ANY.has(address) || isLoopback(address)) return [];
    if (facts.addresses.includes(address)) return [];
    const message = `${address} is not an address of this node, and the kubelet could not listen on it`;
    return [refuse('no-such-address', field, message)];
  });

const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.');

/** Only a port that is assigned is news: any other is the kubelet's own already. */
export const ports: Check = ({ view, assigned }, { listening, ownPorts }) =>
  (['port', 'healthzPort', 'readOnlyPort'] as const).flatMap((field) => {
    const port = view.number(field) ?? 0;
    if (assigned[field] === undefined || port === 0 || listening?.has(port) !== true || ownPorts.has(port)) return [];
    const message = `somebody else listens on port ${port} of this node already, and the kubelet would not start`;
    return [refuse('port-taken', field, message)];
  });
