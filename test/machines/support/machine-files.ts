import { CNI_FILE, KUBELET_UNIT } from '../../node/support/node-paths.ts';
import { KUBEADM_FILES } from './kubeadm-files.ts';
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
  ...KUBEADM_FILES,
});
