import { DISTRIBUTIONS } from '#shared/contract/distributions.ts';
import { CREDENTIALS, LOCAL_CONFIG_FILE } from '../node-paths.ts';
import { asText, environmentFileOf, type Layout, ownConfig, wholeConfig } from './layout.ts';

/** As pkg/install/systemd_linux.go writes it; its user added `--config-dir`. */
export function k0sLayout(): Layout {
  const { unit, serverUnit: _, dataDirectory, ...paths } = DISTRIBUTIONS.k0s;
  const extra = `--config-dir=${paths.configDirectory}`;
  return {
    unit,
    unitText: `[Unit]
Description=k0s worker
[Service]
StartLimitInterval=5
StartLimitBurst=10
EnvironmentFile=-/etc/default/%N
ExecStart=/usr/local/bin/k0s worker --kubelet-extra-args=${extra}
RestartSec=10
Delegate=yes
KillMode=process
LimitCORE=infinity
TasksMax=infinity
TimeoutStartSec=0
LimitNOFILE=999999
Restart=always
[Install]
WantedBy=multi-user.target
`,
    programs: ['/usr/local/bin/k0s', `${dataDirectory}/bin/kubelet`],
    files: (ports) => ({
      [`${paths.configDirectory}/.keep`]: '',
      '/etc/k0s/worker-profile.yaml': asText(wholeConfig(ports, '/run/k0s/containerd.sock')),
    }),
    environmentFile: environmentFileOf(unit),
    hasContainerdUnit: false,
    startLine: 'Starting worker',
    paths,
    certificate: `${paths.rootDirectory}/pki/kubelet.crt`,
    version: '+k0s',
  };
}

/** Arguments as in microk8s-resources/default-args/kubelet, but for those that kubelets of today no longer know; its user added `--config-dir`. */
export function microk8sLayout(): Layout {
  const { unit, ...paths } = DISTRIBUTIONS.microk8s;
  const argsFile = '/var/snap/microk8s/current/args/kubelet';
  return {
    unit,
    unitText: `[Unit]
Description=Service for snap application microk8s.daemon-kubelite
Wants=containerd.service
After=containerd.service
[Service]
EnvironmentFile=-/etc/default/%N
ExecStart=/snap/microk8s/current/kubelite --kubelet-args-file=${argsFile}
Restart=always
RestartSec=5
TimeoutStartSec=600
Type=simple
[Install]
WantedBy=multi-user.target
`,
    programs: ['/snap/microk8s/current/kubelite'],
    files: (ports) => {
      const args = [
        `--kubeconfig=${CREDENTIALS.kubelet}/kubelet.conf`,
        '--cert-dir=/var/snap/microk8s/current/certs',
        `--client-ca-file=${CREDENTIALS.kubelet}/ca.crt`,
        '--anonymous-auth=false',
        `--root-dir=${paths.rootDirectory}`,
        '--fail-swap-on=false',
        '--eviction-hard=memory.available<100Mi,nodefs.available<1Gi,imagefs.available<1Gi',
        '--container-runtime-endpoint=unix:///run/containerd/containerd.sock',
        '--authentication-token-webhook=true',
        '--read-only-port=0',
        `--config-dir=${paths.configDirectory}`,
      ];
      return {
        [argsFile]: `${args.join('\n')}\n`,
        [`${paths.configDirectory}/10-own.conf`]: asText({ ...ownConfig(ports), authorization: { mode: 'Webhook' } }),
      };
    },
    environmentFile: environmentFileOf(unit),
    hasContainerdUnit: true,
    startLine: 'Waiting for the API server',
    paths,
    certificate: paths.servingCertificate,
    version: '',
  };
}

/** As roles/kubernetes/node/templates has it. kubeadm left a file that no kubelet reads. */
export function kubesprayLayout(): Layout {
  const { unit, ...paths } = DISTRIBUTIONS.kubespray;
  return {
    unit,
    unitText: `[Unit]
Description=Kubernetes Kubelet Server
After=containerd.service
Wants=containerd.service
[Service]
EnvironmentFile=-/etc/kubernetes/kubelet.env
EnvironmentFile=-/etc/default/%N
ExecStart=/usr/local/bin/kubelet $KUBE_LOG_LEVEL --hostname-override=\${STARTER_NODE} $KUBELET_ARGS
Restart=always
RestartSec=10s
[Install]
WantedBy=multi-user.target
`,
    programs: ['/usr/local/bin/kubelet'],
    files: (ports) => ({
      '/etc/kubernetes/kubelet.env': [
        'KUBE_LOG_LEVEL=--v=2',
        `KUBELET_ARGS=--config=${paths.configFile} --kubeconfig=${CREDENTIALS.kubelet}/kubelet.conf --runtime-cgroups=/system.slice/containerd.service`,
        '',
      ].join('\n'),
      [paths.configFile]: {
        text: asText(wholeConfig(ports, '/run/containerd/containerd.sock')),
        mode: 0o600,
      },
      [LOCAL_CONFIG_FILE]: asText({ ...ownConfig(ports), maxPods: 33 }),
    }),
    environmentFile: environmentFileOf(unit),
    hasContainerdUnit: true,
    startLine: '"Kubelet version"',
    paths,
    certificate: '/var/lib/kubelet/pki/kubelet.crt',
    version: '',
  };
}
