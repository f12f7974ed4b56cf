import { DISTRIBUTIONS } from '#shared/contract/distributions.ts';
import { asText, environmentFileOf, type Layout, ownConfig } from './layout.ts';

/** The user's own; a flag wins over every file. */
const FLAG = 'pods-per-core=7';

/** Of RKE2's unit alone. */
const KILL_CHILDREN = `ExecStopPost=-/bin/sh -c "systemd-cgls /system.slice/%n | grep -Eo '[0-9]+ (containerd|kubelet)' | awk '{print $1}' | xargs -r kill"`;

/**
 * k3s and RKE2: options of the units as in k3s' install.sh and RKE2's bundle/lib/systemd/system. What the user has to say of the kubelet is
 * a file that `kubelet-arg` names.
 */
export function rancherLayout(name: 'k3s' | 'rke2', role: 'server' | 'agent'): Layout {
  const { unit: agentUnit, serverUnit, ...paths } = DISTRIBUTIONS[name];
  const unit = role === 'server' ? serverUnit : agentUnit;
  const own = `/etc/rancher/${name}/kubelet.yaml`;
  return {
    unit,
    unitText: `[Unit]
Description=${name} ${role}
Wants=network-online.target
After=network-online.target
[Install]
WantedBy=multi-user.target
[Service]
Type=notify
EnvironmentFile=-/etc/default/%N
KillMode=process
Delegate=yes
User=root
LimitNOFILE=1048576
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
TimeoutStartSec=0
Restart=always
RestartSec=5s
ExecStartPre=-/sbin/modprobe br_netfilter
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/local/bin/${name} ${role}
${name === 'rke2' ? KILL_CHILDREN : ''}
`,
    programs: [`/usr/local/bin/${name}`, ...(name === 'rke2' ? ['/var/lib/rancher/rke2/bin/kubelet'] : [])],
    files: (ports) => ({
      [`/etc/rancher/${name}/config.yaml`]: `kubelet-arg:\n  - config=${own}\n  - ${FLAG}\n`,
      [own]: asText(ownConfig(ports)),
    }),
    environmentFile: environmentFileOf(unit),
    hasContainerdUnit: false,
    startLine: `Starting ${name} ${role}`,
    paths,
    certificate: paths.servingCertificate,
    version: name === 'k3s' ? '+k3s1' : '+rke2r1',
  };
}
