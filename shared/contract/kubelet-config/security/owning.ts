import type { PowerRow } from './power.ts';

/** Fields that own a node, or cost it its place in the cluster. */
export const OWNING: readonly PowerRow[] = [
  {
    fields: ['containerRuntimeEndpoint', 'imageServiceEndpoint'],
    gives:
      'has the kubelet talk to a socket of their own: they choose what every container runs and get the registry credentials',
  },
  {
    fields: ['volumePluginDir'],
    gives: 'has the kubelet run, as root, whatever lies in a directory that pods may write to',
  },
  {
    fields: ['staticPodPath', 'staticPodURL', 'staticPodURLHeader'],
    gives: 'runs pods of any kind, privileged ones too, that no API server, quota or admission policy ever sees',
  },
  {
    fields: ['authentication', 'authorization'],
    gives: 'lets anybody who reaches port 10250 run commands in every pod of the node, or shuts everybody out',
  },
  {
    fields: ['readOnlyPort'],
    gives:
      'shows the specs of all pods, environment included, and metrics to anybody who reaches the node, without a password',
  },
  {
    fields: ['enableDebuggingHandlers'],
    gives: 'opens exec, attach, run, logs and port-forward again on nodes that were provisioned without',
  },
  {
    fields: ['enableProfilingHandler', 'enableDebugFlagsHandler'],
    gives: 'reads the kubelet’s memory by its profiles, or raises its log level until it logs Secrets',
  },
  {
    fields: ['address', 'port', 'enableServer', 'healthzBindAddress', 'healthzPort'],
    gives: 'moves the kubelet’s API or health endpoint to where strangers reach it and the API server does not',
  },
  {
    fields: ['enableSystemLogHandler', 'enableSystemLogQuery'],
    gives: 'serves the files and journals below the host’s /var/log to whoever may ask for nodes/log or nodes/proxy',
  },
  {
    fields: ['podLogsDir'],
    gives: 'has the kubelet remove every directory there that belongs to no pod: /etc or /home, for example',
  },
  {
    fields: ['tlsCertFile', 'tlsPrivateKeyFile', 'rotateCertificates', 'serverTLSBootstrap'],
    gives: 'has the kubelet show a certificate of theirs, or lose its own',
  },
  { fields: ['providerID', 'podCIDR'], gives: 'has the node pass for another machine or network' },
  {
    fields: ['contentType'],
    gives: 'has the kubelet speak to the API server in a way that it refuses',
  },
  { fields: ['runOnce'], gives: 'ends the kubelet when its pods have ended' },
];
