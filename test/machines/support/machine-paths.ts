/** Where systemd on a machine has a shell read what comes. */
export const COMMANDS_PORT = 2222;
/** Of the kubelet's secure port, as everywhere. */
export const KUBELET_PORT = 10250;
/** What this computer's loopback is to a machine. */
export const GATEWAY = '10.0.2.2';
/** Of the service "kubernetes". */
export const API_SERVICE = '10.0.0.1';
export const NODE_ADDRESS = '10.0.2.15';
export const IMAGES_DIRECTORY = '/opt/images';

export const IMAGES = { idle: 'localhost/idle:1', agent: 'localhost/kubelet-gitops:test' } as const;
