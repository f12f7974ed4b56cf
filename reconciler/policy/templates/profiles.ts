/** Expressions by field, as a computed layer writes them. */
export interface ExpressionTree {
  readonly [key: string]: string | ExpressionTree;
}

interface Profile {
  /** Where the formula is published, and when it was read there. */
  readonly source: string;
  readonly read: string;
  readonly computed: ExpressionTree;
}

/** 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of all others. */
const CPU_BANDS =
  'between(cpu, quantity("0"), quantity("1")) * 0.06 + between(cpu, quantity("1"), quantity("2")) * 0.01' +
  ' + between(cpu, quantity("2"), quantity("4")) * 0.005 + max(cpu - quantity("4"), quantity("0")) * 0.0025';

/** 25 % of the first 4 GiB, 20 % of the next 4, 10 % of the next 8, 6 % of the next 112, 2 % of what is above. */
const memoryBands = (memory: string): string =>
  `between(${memory}, quantity("0"), quantity("4Gi")) * 0.25 + between(${memory}, quantity("4Gi"), quantity("8Gi")) * 0.2` +
  ` + between(${memory}, quantity("8Gi"), quantity("16Gi")) * 0.1 + between(${memory}, quantity("16Gi"), quantity("128Gi")) * 0.06` +
  ` + max(${memory} - quantity("128Gi"), quantity("0")) * 0.02`;

/** Formulas of providers, over what a Node says of its machine. */
export const PROFILES = {
  /** A machine with less than 1 GiB gives 255 MiB, whatever the bands say. */
  gke: {
    source: 'https://cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes',
    read: '2026-11-23',
    computed: {
      kubeReserved: {
        cpu: CPU_BANDS,
        memory: `memory < quantity("1Gi") ? quantity("255Mi") : ${memoryBands('memory')}`,
      },
    },
  },
  /** 11 MiB for each pod, and 255 MiB; whatever the machine has. */
  eks: {
    source: 'https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/kubelet/config.go',
    read: '2026-11-23',
    computed: {
      kubeReserved: {
        cpu: CPU_BANDS,
        'ephemeral-storage': 'quantity("1Gi")',
        memory: 'quantity("11Mi") * maxPods + quantity("255Mi")',
      },
    },
  },
  /**
   * Since AKS 1.29: 20 MiB for each pod and 50 MiB, at most a quarter of the memory. Of CPUs the table of 1, 2, 4, 8 … 64 cores, and straight
   * lines between.
   */
  aks: {
    source: 'https://learn.microsoft.com/azure/aks/node-resource-reservations',
    read: '2026-11-23',
    computed: {
      kubeReserved: {
        cpu:
          'between(cpu, quantity("0"), quantity("1")) * 0.06 + between(cpu, quantity("1"), quantity("2")) * 0.04' +
          ' + between(cpu, quantity("2"), quantity("4")) * 0.02 + max(cpu - quantity("4"), quantity("0")) * 0.01',
        memory: 'min(quantity("20Mi") * maxPods + quantity("50Mi"), memory * 0.25)',
      },
    },
  },
  /** Of whole GiB; 60m and 12m for each further core, to hundredths of a core, and at least half a core. */
  openshift: {
    source: 'https://github.com/openshift/machine-config-operator (kubelet-auto-node-size.yaml, version 2)',
    read: '2026-11-23',
    computed: {
      systemReserved: {
        cpu: 'max(quantity("500m"), round(quantity("48m") + cpu * 0.012, quantity("10m")))',
        'ephemeral-storage': 'quantity("1Gi")',
        memory: memoryBands('floor(memory, quantity("1Gi"))'),
      },
    },
  },
} as const satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof PROFILES;
export const PROFILE_NAMES = Object.keys(PROFILES) as readonly ProfileName[];
