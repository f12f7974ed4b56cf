import { CREDENTIALS, CNI_FILE, KUBELET_UNIT, LOCAL_CONFIG_FILE } from '../../node/support/node-paths.ts';
import { API_SERVICE, COMMANDS_PORT, GATEWAY, IMAGES, IMAGES_DIRECTORY, NODE_ADDRESS } from './machine-paths.ts';

/** Units that are started at boot. */
export const ENABLED = ['commands.socket', 'systemd-networkd', 'api-service', 'containerd', 'images', KUBELET_UNIT];

/** What a machine has besides Debian's packages, programs and credentials. */
export const machineFiles = (name: string, apiPort: number): Readonly<Record<string, string>> => ({
  '/etc/hostname': `${name}\n`,
  '/etc/hosts': `127.0.0.1 localhost\n${NODE_ADDRESS} ${name}\n`,
  '/etc/resolv.conf': `nameserver ${GATEWAY}\n`,
  '/etc/fstab': '/dev/vda / ext4 defaults,errors=remount-ro 0 1\n',
  '/etc/sysctl.d/99-kubernetes.conf': 'net.ipv4.ip_forward=1\n',
  '/etc/systemd/journald.conf.d/persistent.conf': '[Journal]\nStorage=persistent\nRateLimitBurst=0\n',
  '/etc/systemd/network/10-ethernet.network': `[Match]\nName=en* eth*\n[Network]\nAddress=${NODE_ADDRESS}/24\nGateway=${GATEWAY}\n`,
  '/etc/systemd/system/commands.socket': `[Socket]
ListenStream=${COMMANDS_PORT}
Accept=yes
MaxConnections=64
[Install]
WantedBy=sockets.target
`,
  '/etc/systemd/system/commands@.service': `[Unit]
CollectMode=inactive-or-failed
[Service]
ExecStart=-/bin/sh -s
StandardInput=socket
StandardOutput=socket
`,
  '/etc/systemd/system/api-service.service': `[Unit]
Description=Stands for kube-proxy
After=systemd-networkd.service
Before=kubelet.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/sbin/nft -f /etc/api-service.nft
[Install]
WantedBy=multi-user.target
`,
  '/etc/api-service.nft': `table ip services {
  chain outgoing {
    type nat hook output priority -100
    ip daddr ${API_SERVICE} tcp dport 443 dnat to ${GATEWAY}:${apiPort}
  }
}
`,
  '/etc/containerd/config.toml': `version = 3
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '${IMAGES.idle}'
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ['/opt/cni/bin']
use_internal_loopback = true
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
SystemdCgroup = true
`,
  [CNI_FILE]: JSON.stringify({
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [{ type: 'ptp', ipMasq: false, ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.0.0/24' }]] } }],
  }),
  '/etc/systemd/system/containerd.service': `[Service]
ExecStart=/usr/local/bin/containerd
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=5
LimitNOFILE=infinity
OOMScoreAdjust=-999
[Install]
WantedBy=multi-user.target
`,
  // As a registry would give them.
  '/etc/systemd/system/images.service': `[Unit]
After=containerd.service
Requires=containerd.service
Before=kubelet.service
ConditionPathExists=${IMAGES_DIRECTORY}
[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/sh -c 'for i in ${IMAGES_DIRECTORY}/*; do ctr -n k8s.io images import "$i" || exit; done; rm -r ${IMAGES_DIRECTORY}; sync'
[Install]
WantedBy=multi-user.target
`,
  ...KUBEADM,
});

/** The unit and its drop-in as kubeadm's packages have them, and the config as `kubeadm join` writes it. */
const KUBEADM: Readonly<Record<string, string>> = {
  [`/usr/lib/systemd/system/${KUBELET_UNIT}`]: `[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
`,
  [`/usr/lib/systemd/system/${KUBELET_UNIT}.d/10-kubeadm.conf`]: `[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=${CREDENTIALS.kubelet}/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=${LOCAL_CONFIG_FILE}"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`,
  '/etc/kubernetes/manifests/.keep': '',
  '/var/lib/kubelet/kubeadm-flags.env': 'KUBELET_KUBEADM_ARGS=""\n',
  [LOCAL_CONFIG_FILE]: `apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: ${CREDENTIALS.kubelet}/ca.crt
authorization:
  mode: Webhook
  webhook:
    cacheAuthorizedTTL: 0s
    cacheUnauthorizedTTL: 0s
cgroupDriver: systemd
clusterDNS:
- 10.0.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
kind: KubeletConfiguration
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
    text:
      infoBufferSize: "0"
  verbosity: 0
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`,
};
