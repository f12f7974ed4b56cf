import type { DistributionName } from './distributions.ts';
import { fieldOfFlag } from './kubelet-config/fields/flags.ts';

/** A flag that a distribution passes to its kubelets, for a field of their configuration. It wins over every file. */
export interface PassedFlag {
  /** Dotted path of the field. */
  readonly field: string;
  /** `--sync-frequency=30s`, without a value where that is not the same everywhere. */
  readonly flag: string;
  /** Undefined where it is not the same everywhere. */
  readonly value: string | undefined;
  /** Of a flag that not every node of the distribution has, whose it is: `kOps up to 1.35 passes it`. */
  readonly sometimes?: string;
}

interface Passed {
  readonly flags: string;
  /** The first version of the kubelet: `1.32.4`. Default: all. */
  readonly since?: string;
  /** The first minor without them: `1.36`. Default: none. */
  readonly before?: string;
  readonly sometimes?: string;
}

const MICROK8S_CIPHERS =
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305,' +
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,' +
  'TLS_RSA_WITH_AES_256_GCM_SHA384,TLS_RSA_WITH_AES_128_GCM_SHA256';

/**
 * Flags without a field, such as `--node-ip`, are left out, and those that only some settings bring. EKS passes none for a field
 * (awslabs/amazon-eks-ami `nodeadm/internal/kubelet`, v20251016 to v20260724).
 */
const PASSED: Partial<Record<DistributionName, readonly Passed[]>> = {
  // kubernetes/kubernetes `cmd/kubeadm/app/phases/kubelet/flags.go`: 1.20 wrote it, 1.37.2 does not.
  kubeadm: [
    { flags: '--container-runtime-endpoint', before: '1.37', sometimes: "kubeadm's kubeadm-flags.env may have it" },
  ],
  // k3s-io/k3s `pkg/daemons/agent/agent_linux.go`; 1.32.0 to 1.32.3 left it out (k3s#12166).
  k3s: [{ flags: '--read-only-port=0', since: '1.32.4' }],
  rke2: [
    // rancher/rke2 `pkg/executor/staticpod/staticpod.go`, before `pkg/podexecutor`: every tag to v1.36.3+rke2r1.
    {
      flags: '--volume-plugin-dir=/var/lib/kubelet/volumeplugins --file-check-frequency=5s --sync-frequency=30s',
      since: '1.20.7',
    },
    // By the k3s in it; seen from 1.32.5 on (rke2#8100).
    { flags: '--read-only-port=0', since: '1.32.5' },
  ],
  // `/etc/default/kubelet` and process lists of nodes up to v1.30.5-gke.1355000; DataDog/datadog-agent `pkg/compliance/k8sconfig/loader_test.go`.
  gke: [
    {
      flags:
        '--v=2 --max-pods --volume-plugin-dir=/home/kubernetes/flexvolume --node-status-max-images=25 --registry-qps=10 ' +
        '--registry-burst=20 --container-runtime-endpoint=unix:///run/containerd/containerd.sock --cgroup-driver',
      since: '1.24',
    },
  ],
  // Azure/AgentBaker `parts/linux/cloud-init/artifacts/kubelet.service`, `cse_main.sh`, where there is a config file; 06836ee230.
  aks: [
    {
      flags:
        '--enable-server=true --v=2 --volume-plugin-dir=/etc/kubernetes/volumeplugins --runtime-request-timeout=15m ' +
        '--container-runtime-endpoint=unix:///run/containerd/containerd.sock',
    },
  ],
  // kubernetes-sigs/kubespray `roles/kubernetes/node/templates/kubelet.env.v1beta1.j2`, v2.20.0 to v2.31.0.
  kubespray: [
    { flags: '--v' },
    { flags: '--container-runtime-endpoint', before: '1.31', sometimes: 'Kubespray up to 2.26 passes it' },
  ],
  // kubernetes/kops `nodeup/pkg/model/kubelet.go`, `pkg/apis/kops/componentconfig.go`, v1.28.7 to v1.36.2.
  kops: [
    { flags: '--v --runtime-request-timeout' },
    {
      flags:
        '--authentication-token-webhook --authorization-mode --cgroup-driver --cgroup-root --client-ca-file --cluster-dns --cluster-domain ' +
        '--container-runtime-endpoint --enable-debugging-handlers --eviction-hard --pod-manifest-path --protect-kernel-defaults ' +
        '--tls-cert-file --tls-private-key-file --volume-plugin-dir',
      before: '1.36',
      sometimes: 'kOps up to 1.35 passes it',
    },
  ],
  // gardener/gardener `pkg/component/extensions/operatingsystemconfig/original/components/kubelet/cliflags.go`, v1.60.0 to v1.149.3.
  gardener: [{ flags: '--v=2 --container-runtime-endpoint=unix:///run/containerd/containerd.sock' }],
  // canonical/microk8s `microk8s-resources/default-args/kubelet`, 1.28 to 1.36, and `wrappers/run-kubelite-with-args`: a file that people edit.
  microk8s: [
    {
      flags:
        '--client-ca-file --anonymous-auth=false --fail-swap-on=false ' +
        '--eviction-hard=memory.available<100Mi,nodefs.available<1Gi,imagefs.available<1Gi --container-runtime-endpoint ' +
        `--authentication-token-webhook=true --read-only-port=0 --tls-cipher-suites=${MICROK8S_CIPHERS} ` +
        '--serialize-image-pulls=false --resolv-conf',
      since: '1.28',
      sometimes: "it is among MicroK8s' default arguments",
    },
  ],
  // k0sproject/k0s `pkg/component/worker/kubelet.go`, v1.28.15+k0s.0 to v1.36.3+k0s.2.
  k0s: [{ flags: '--v' }],
};

/** Where people set what such a flag says; absent where nobody can. */
export const FLAGS_SET_IN: Partial<Record<DistributionName, string>> = {
  k3s: 'kubelet-arg in /etc/rancher/k3s/config.yaml',
  rke2: 'kubelet-arg in /etc/rancher/rke2/config.yaml',
  kubespray: "Kubespray's inventory",
  kops: "kOps' spec.kubelet",
  microk8s: '/var/snap/microk8s/current/args/kubelet',
  k0s: "k0s worker's --kubelet-extra-args",
};

/**
 * The flags that nodes of a distribution start their kubelet with. Pure.
 *
 * @param version of the kubelet; a minor (`1.32`) stands for its newest patch
 */
export function passedFlags(name: DistributionName, version: string): readonly PassedFlag[] {
  const here = orderOf(version, NEWEST_PATCH);
  const isThere = ({ since = '1.0', before = '1.999' }: Passed): boolean =>
    here >= orderOf(since) && here < orderOf(before);
  return (PASSED[name] ?? []).filter(isThere).flatMap(({ flags, sometimes }) =>
    flags.split(' ').flatMap((flag): readonly PassedFlag[] => {
      const equals = flag.indexOf('=');
      const field = fieldOfFlag(flag.slice(2, equals < 0 ? undefined : equals));
      const value = equals < 0 ? undefined : flag.slice(equals + 1);
      return field === undefined ? [] : [{ field, flag, value, ...(sometimes === undefined ? {} : { sometimes }) }];
    }),
  );
}

const NEWEST_PATCH = 999;

/** Versions as numbers, in their order. */
function orderOf(version: string, patch = 0): number {
  const [, minor = 0, written = patch] = /^v?1\.(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  return Number(minor) * (NEWEST_PATCH + 1) + Number(written);
}
