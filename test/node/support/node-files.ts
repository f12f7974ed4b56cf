import { dirname } from 'node:path';
import { HERE, runtimeFlags } from '../../cluster/support/kubelet-of-minor.ts';
import { HANGS } from './bad-configs.ts';
import {
  AGENT_IS_LOST,
  CREDENTIALS,
  DIRECTORIES_UNIT,
  DROP_IN_DIRECTORY,
  HOLD,
  KUBELET_FLAGS_FILE,
  LOCAL_CONFIG_FILE,
  MOUNTS,
  type NodePorts,
  STATE_DIRECTORY,
  UNIT_DIRECTORY,
} from './node-paths.ts';

/** The containers' own state is the runtime's default; no pod runs, so that there is no registry to pull from. */
export const CONTAINERD_CONFIG = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${MOUNTS.cniPlugins}"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "${MOUNTS.runtime}/runc"
`;

export const CNI_CONFIG = JSON.stringify({
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [{ type: 'ptp', ipMasq: false, ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.0.0/24' }]] } }],
});

/** systemd-nspawn mounts the hierarchies of cgroups v1 read only, although they are this machine's own part. */
export const CGROUPS_UNIT = `[Unit]
Description=cgroups that the kubelet can write to
Before=containerd.service kubelet.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'for at in /sys/fs/cgroup/*/; do mountpoint -q "$at" && mount -o remount,bind,rw "$at"; done; :'
[Install]
WantedBy=multi-user.target
`;

export const CONTAINERD_UNIT = `[Unit]
Description=container runtime
[Service]
Environment=PATH=${MOUNTS.runtime}:/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=${MOUNTS.runtime}/containerd
Restart=always
KillMode=process
Delegate=yes
[Install]
WantedBy=multi-user.target
`;

/** See `NodeUnderTest.holdStarts`. */
const WAIT_WHILE_HELD =
  `[ ! -e ${HOLD.order} ] || sh ${HOLD.order}; ` +
  `while [ -e ${HOLD.order} ]; do touch ${HOLD.isHeld}; sleep 0.1; done; rm -f ${HOLD.isHeld}`;

/** systemd makes one dollar of two. */
const HANG_WITH_ITS_CONFIG = `! grep -q ${HANGS.maxPods} ${LOCAL_CONFIG_FILE} || kill -STOP $$$$`;

/** As kubeadm's, but for the pause before an automatic restart, which is 10 s there, and for what the tests have it do. */
export const kubeletUnit = (nodeName: string): string => `[Unit]
Description=kubelet
Wants=containerd.service
After=containerd.service
StartLimitIntervalSec=0
[Service]
EnvironmentFile=-${KUBELET_FLAGS_FILE}
ExecStartPre=/bin/sh -c "${WAIT_WHILE_HELD}"
ExecStart=/bin/sh -c "${HANG_WITH_ITS_CONFIG}; \\
  exec ${MOUNTS.kubelet}/kubelet --config=${LOCAL_CONFIG_FILE} \\
  --kubeconfig=${CREDENTIALS.kubelet}/kubelet.conf --hostname-override=${nodeName} \\
  ${runtimeFlags('unix:///run/containerd/containerd.sock').join(' ')} $KUBELET_EXTRA_ARGS"
Restart=always
RestartSec=2
TimeoutStartSec=infinity
[Install]
WantedBy=multi-user.target
`;

/** What a kubelet does for volumes of the type DirectoryOrCreate, before every start of the pod. */
export const directoriesUnit = (unitDirectory: string): string => `[Unit]
Description=directories of the kubelet-gitops agent
[Service]
Type=oneshot
ExecStart=/bin/mkdir -p ${STATE_DIRECTORY} ${unitDirectory}
`;

/** Where the agent's pod may write, beside its state directory. */
export interface AgentPlaces {
  /** Of drop-ins for the kubelet's unit. */
  readonly unitDirectory: string;
  /** Of the kubelet's files; those that are not there are passed over. */
  readonly directories: readonly string[];
}

export const KUBEADM_PLACES: AgentPlaces = {
  unitDirectory: UNIT_DIRECTORY,
  directories: [dirname(LOCAL_CONFIG_FILE), DROP_IN_DIRECTORY],
};

/**
 * The agent with what its pod has: root without a capability, the host read only but for the directories that it writes to, and
 * the host's root at /host.
 */
export const agentUnit = (flags: readonly string[], { unitDirectory, directories }: AgentPlaces): string => `[Unit]
Description=kubelet-gitops agent
Requires=${DIRECTORIES_UNIT}
After=${DIRECTORIES_UNIT}
ConditionPathExists=!${AGENT_IS_LOST}
StartLimitIntervalSec=0
[Service]
EnvironmentFile=${CREDENTIALS.agent}/agent.env
ExecStart=${MOUNTS.node}/node ${flags.join(' ')} ${MOUNTS.agent}/agent.js
Restart=always
RestartSec=1
CapabilityBoundingSet=
NoNewPrivileges=yes
ReadOnlyPaths=/
ReadWritePaths=${STATE_DIRECTORY} ${unitDirectory} ${directories.map((directory) => `-${directory}`).join(' ')}
BindReadOnlyPaths=/:/host
[Install]
WantedBy=multi-user.target
`;

/** What a kubelet needs to run beside others on this machine's network, and to be looked at by the agent. */
export const localConfig = ({ kubelet, healthz }: NodePorts): Readonly<Record<string, unknown>> => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  port: kubelet,
  healthzPort: healthz,
  readOnlyPort: 0,
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: `${CREDENTIALS.kubelet}/ca.crt` },
  },
  authorization: { mode: 'Webhook' },
  cgroupDriver: 'cgroupfs',
  failSwapOn: false,
  // The machine's own packet filter is left alone.
  makeIPTablesUtilChains: false,
  // The first report of a kubelet says that it is not Ready yet; the second one comes sooner than after 10 s.
  nodeStatusUpdateFrequency: '2s',
  ...HERE,
});
