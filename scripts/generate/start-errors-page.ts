/** An error by which the process of a kubelet ends at its start, and who says so before: `validate` of the config alone, the agent's preflight of the machine, or nobody before the trial. */
export interface StartError {
  /** What is wrong, with the fields. */
  readonly error: string;
  /** The function of Kubernetes that returns the error, or exits. */
  readonly source: string;
  /** Codes of findings. */
  readonly validate?: readonly string[];
  readonly preflight?: readonly string[];
  /** Why neither can say it. */
  readonly trial?: string;
}

const CONFIG_IS_INNOCENT = 'no config causes it: the kubelet that runs would not start again either';
const ASKS_THE_RUNTIME = 'the agent does not speak with the container runtime';
const NEVER_CONTENT = 'the agent never reads the content of files that a config names';

/** Read in the source of 1.37.2, in the order in which a kubelet comes to them. */
export const START_ERRORS: readonly StartError[] = [
  {
    error: 'a flag that this version does not know',
    source: 'NewKubeletCommand (cmd/kubelet/app)',
    trial: CONFIG_IS_INNOCENT,
  },
  {
    error: 'a file that cannot be read, decoded or defaulted',
    source: 'loadConfigFile (cmd/kubelet/app)',
    validate: ['yaml-syntax', 'wrong-type', 'empty-file', 'unknown-value', 'bad-quantity', 'bad-duration'],
  },
  {
    error: 'a drop-in that cannot be merged: no kind, a doubled key',
    source: 'mergeKubeletConfigurations (cmd/kubelet/app)',
    preflight: ['drop-in-broken'],
  },
  {
    error: '`featureGates`: unknown, locked, or without one that it depends on',
    source: 'SetFromMap (component-base/featuregate)',
    validate: ['unknown-feature-gate', 'locked-feature-gate', 'gate-off'],
  },
  {
    error: '`logging`',
    source: 'ValidateAndApplyAsField (component-base/logs)',
    validate: ['unknown-value', 'out-of-range', 'gate-off'],
  },
  {
    error: 'what validation refuses, about 100 rules',
    source: 'ValidateKubeletConfiguration (pkg/kubelet/apis/config/validation)',
    validate: [
      'out-of-range',
      'conflict',
      'missing-partner',
      'gate-off',
      'unknown-value',
      'bad-taint',
      'duplicate-item',
    ],
  },
  {
    error: '`failCgroupV1`, `singleProcessOOMKill: false` on cgroups v1',
    source: 'validateKubeletOSConfiguration (pkg/kubelet/apis/config/validation)',
    preflight: ['cgroup-v1'],
  },
  {
    error: '`tlsCipherSuites`, `tlsMinVersion` with names that Go does not have',
    source: 'InitializeTLS (cmd/kubelet/app)',
    validate: ['unknown-value'],
  },
  {
    error: '`tlsCurvePreferences`',
    source: 'TLSCurvePreferences (component-base/cli/flag)',
    validate: ['fails-at-start'],
  },
  {
    error: 'no place to write a certificate of its own',
    source: 'InitializeTLS (cmd/kubelet/app)',
    trial: CONFIG_IS_INNOCENT,
  },
  { error: '`tracing.endpoint`', source: 'newTracerProvider (cmd/kubelet/app)', validate: ['bad-address'] },
  {
    error: 'a wrong watchdog in the unit',
    source: 'NewHealthChecker (pkg/kubelet/watchdog)',
    trial: CONFIG_IS_INNOCENT,
  },
  {
    error: 'no kubeconfig, an expired client certificate, no host name',
    source: 'buildKubeletClientConfig (cmd/kubelet/app)',
    trial: CONFIG_IS_INNOCENT,
  },
  {
    error: '`authentication.x509.clientCAFile` that is not there',
    source: 'BuildAuthn (cmd/kubelet/app)',
    preflight: ['path-missing'],
  },
  {
    error: '`authentication.x509.clientCAFile` without a certificate in it',
    source: 'NewDynamicCAContentFromFile (apiserver/dynamiccertificates)',
    trial: NEVER_CONTENT,
  },
  {
    error: '`authentication.webhook`, `authorization.mode: Webhook` without a kubeconfig',
    source: 'BuildAuthn, BuildAuthz (cmd/kubelet/app)',
    trial: 'only a standalone kubelet has none, and such a node is not in a cluster',
  },
  { error: '`authorization.mode`', source: 'BuildAuthz (cmd/kubelet/app)', validate: ['unknown-value'] },
  {
    error: '`containerRuntimeEndpoint`, `imageServiceEndpoint` that name no socket',
    source: 'GetAddressAndDialer (cri-client)',
    validate: ['fails-at-start'],
  },
  {
    error: 'no socket where they point',
    source: 'PreInitRuntimeService (pkg/kubelet)',
    preflight: ['runtime-missing', 'runtime-away'],
  },
  {
    error: '`runtimeRequestTimeout` below 1ms',
    source: 'PreInitRuntimeService (pkg/kubelet)',
    validate: ['fails-at-start'],
  },
  {
    error: '`runtimeRequestTimeout` that the runtime does not keep',
    source: 'PreInitRuntimeService (pkg/kubelet)',
    trial: 'how fast a runtime answers is seen when it is asked',
  },
  {
    error: 'a runtime without the CRI version or a known cgroup driver',
    source: 'getCgroupDriverFromCRI (cmd/kubelet/app)',
    trial: ASKS_THE_RUNTIME,
  },
  { error: 'cAdvisor cannot read the machine', source: 'New (pkg/kubelet/cadvisor)', trial: CONFIG_IS_INNOCENT },
  {
    error: '`reservedSystemCPUs` that is not a list',
    source: 'getReservedCPUs (cmd/kubelet/app)',
    validate: ['bad-cpu-list'],
  },
  {
    error: '`reservedSystemCPUs` that the machine lacks',
    source: 'getReservedCPUs (cmd/kubelet/app)',
    preflight: ['no-such-cpu'],
  },
  {
    error: '`kubeReserved`, `systemReserved` of what cannot be reserved',
    source: 'parseResourceList (cmd/kubelet/app)',
    validate: ['unknown-value', 'bad-quantity', 'out-of-range'],
  },
  {
    error: '`evictionHard`, `evictionSoft` and what belongs to them',
    source: 'ParseThresholdConfig (pkg/kubelet/eviction)',
    validate: ['unknown-value', 'bad-quantity', 'missing-partner', 'out-of-range'],
  },
  { error: '`qosReserved`', source: 'ParseQOSReserved (pkg/kubelet/cm)', validate: ['unknown-value', 'bad-quantity'] },
  {
    error: '`memorySwap.swapBehavior: LimitedSwap` on cgroups v1',
    source: 'run (cmd/kubelet/app)',
    preflight: ['cgroup-v1'],
  },
  {
    error: '`failSwapOn` on a machine that swaps',
    source: 'NewContainerManager (pkg/kubelet/cm)',
    preflight: ['swap-on'],
  },
  {
    error: '`cgroupRoot` that is not there, or lacks a controller',
    source: 'Validate (pkg/kubelet/cm)',
    preflight: ['cgroup-missing'],
  },
  {
    error: '`topologyManagerPolicy`, its scope and options',
    source: 'NewManager (pkg/kubelet/cm/topologymanager)',
    validate: ['unknown-value', 'gate-off'],
  },
  {
    error: 'more NUMA nodes than the topology manager takes',
    source: 'NewManager (pkg/kubelet/cm/topologymanager)',
    preflight: ['too-many-numa-nodes'],
  },
  {
    error: 'a checkpoint of devices or resource claims that cannot be read',
    source: 'NewManagerImpl, NewManager (pkg/kubelet/cm)',
    trial: CONFIG_IS_INNOCENT,
  },
  {
    error: '`cpuManagerPolicyOptions`: unknown, off, in conflict',
    source: 'NewStaticPolicyOptions (pkg/kubelet/cm/cpumanager)',
    validate: ['unknown-value', 'gate-off', 'conflict'],
  },
  {
    error: '`cpuManagerPolicy: static` without a reserved CPU',
    source: 'NewManager (pkg/kubelet/cm/cpumanager)',
    validate: ['no-reserved-cpu'],
    preflight: ['no-reserved-cpu'],
  },
  {
    error: '`align-by-socket` with more sockets than NUMA nodes',
    source: 'ValidateStaticPolicyOptions (pkg/kubelet/cm/cpumanager)',
    preflight: ['too-few-numa-nodes'],
  },
  {
    error: 'more CPUs reserved than there are',
    source: 'NewStaticPolicy (pkg/kubelet/cm/cpumanager)',
    preflight: ['nothing-left'],
  },
  {
    error: '`memoryManagerPolicy: Static` whose sums differ',
    source: 'validateReservedMemory (pkg/kubelet/cm/memorymanager)',
    validate: ['memory-not-equal'],
    preflight: ['memory-not-equal'],
  },
  {
    error: '`reservedMemory` of a NUMA node that is not there',
    source: 'getTotalMemoryTypeReserved (pkg/kubelet/cm/memorymanager)',
    preflight: ['no-such-numa-node'],
  },
  { error: '`syncFrequency` that is negative', source: 'NewMainKubelet (pkg/kubelet)', validate: ['out-of-range'] },
  {
    error: '`fileCheckFrequency` that is negative, with static pods',
    source: 'NewSourceFile (pkg/kubelet/config)',
    validate: ['fails-at-start'],
  },
  { error: '/dev/kmsg cannot be opened', source: 'NewWatcher (pkg/kubelet/oom)', trial: CONFIG_IS_INNOCENT },
  {
    error: '`configMapAndSecretChangeDetectionStrategy`',
    source: 'NewMainKubelet (pkg/kubelet)',
    validate: ['unknown-value'],
  },
  {
    error: '`containerLogMaxSize`, `containerLogMaxFiles`',
    source: 'NewContainerLogManager (pkg/kubelet/logs)',
    validate: ['bad-quantity', 'out-of-range'],
  },
  {
    error: 'plugins for registries that cannot be registered',
    source: 'NewKubeGenericRuntimeManager (pkg/kubelet/kuberuntime)',
    trial: 'flags name them: no config causes it',
  },
  {
    error: '`imagePullCredentialsVerificationPolicy`, `preloadedImagesVerificationAllowlist`',
    source: 'NewImagePullCredentialVerificationPolicy (pkg/kubelet/images/pullmanager)',
    validate: ['unknown-value', 'bad-image-pattern', 'conflict'],
  },
  {
    error: '`imageGCHighThresholdPercent`, `imageGCLowThresholdPercent`',
    source: 'NewImageGCManager (pkg/kubelet/images)',
    validate: ['out-of-range', 'conflict'],
  },
  {
    error: '`tlsCertFile`, `tlsPrivateKeyFile` that are not there',
    source: 'NewKubeletServerCertificateDynamicFileManager (pkg/kubelet/certificate)',
    preflight: ['path-missing'],
  },
  {
    error: '`tlsCertFile` without its key (to 1.35)',
    source: 'ListenAndServeKubeletServer (pkg/kubelet/server)',
    validate: ['fails-at-start'],
  },
  {
    error: 'a certificate and a key that do not belong together',
    source: 'NewKubeletServerCertificateDynamicFileManager (pkg/kubelet/certificate)',
    trial: NEVER_CONTENT,
  },
  {
    error: '`allowedUnsafeSysctls` without a namespace',
    source: 'NewAllowlist (pkg/kubelet/sysctl)',
    validate: ['fails-at-start'],
  },
  {
    error: '`maxPods`, `userNamespaces.idsPerPod`: more ids than 2^32, or a rest',
    source: 'MakeUserNsManager (pkg/kubelet/userns)',
    validate: ['fails-at-start'],
    preflight: ['too-few-user-ids'],
  },
  {
    error: 'more ids than the user `kubelet` has',
    source: 'MakeUserNsManager (pkg/kubelet/userns)',
    preflight: ['too-few-user-ids'],
  },
  {
    error: 'the user `kubelet` without `getsubids`, or two ranges',
    source: 'getKubeletMappings (pkg/kubelet)',
    trial: CONFIG_IS_INNOCENT,
  },
  {
    error: 'pods on the disk with another `userNamespaces.idsPerPod`',
    source: 'recordPodMappings (pkg/kubelet/userns)',
    preflight: ['pods-keep-user-ids'],
  },
  { error: '`podLogsDir` where a file stands', source: 'setupDataDirs (pkg/kubelet)', preflight: ['path-missing'] },
  {
    error: '`podLogsDir` on a file system that is read-only',
    source: 'setupDataDirs (pkg/kubelet)',
    trial: 'the agent has the host read-only itself, and cannot tell',
  },
  { error: '`maxOpenFiles` below 25', source: 'RunKubelet (cmd/kubelet/app)', validate: ['fails-at-start'] },
  {
    error: '`maxOpenFiles` below what the pods of a node need',
    source: 'SetNumFiles (pkg/util/rlimit)',
    trial: 'it depends on what pods do later; below 1,000 `validate` warns',
  },
  {
    error: 'state files of the CPU and memory managers that contradict the config',
    source: 'Start (pkg/kubelet/cm)',
    trial: 'the agent puts them aside before the restart',
  },
  {
    error: 'more reserved than the machine has',
    source: 'validateNodeAllocatable (pkg/kubelet/cm)',
    preflight: ['nothing-left'],
  },
  {
    error: 'a hierarchy of cgroups v1 that is not mounted',
    source: 'validateSystemRequirements (pkg/kubelet/cm)',
    trial: CONFIG_IS_INNOCENT,
  },
  {
    error: '`protectKernelDefaults` with other sysctls',
    source: 'setupKernelTunables (pkg/kubelet/cm)',
    preflight: ['kernel-defaults'],
  },
  {
    error: 'the cgroups of pods cannot be made',
    source: 'createNodeAllocatableCgroups (pkg/kubelet/cm)',
    trial: 'the kernel or systemd refuses it, for reasons of their own',
  },
  {
    error: 'a word in `enforceNodeAllocatable` whose reservation is empty',
    source: 'enforceExistingCgroup (pkg/kubelet/cm)',
    validate: ['fails-at-start'],
  },
  {
    error: '`systemReservedCgroup`, `kubeReservedCgroup` not there, or without a controller',
    source: 'enforceExistingCgroup (pkg/kubelet/cm)',
    preflight: ['cgroup-missing'],
  },
  {
    error: 'a limit below what they use now',
    source: 'enforceExistingCgroup (pkg/kubelet/cm)',
    preflight: ['cgroup-too-small'],
  },
  { error: '`systemCgroups: /`', source: 'setupNode (pkg/kubelet/cm)', validate: ['fails-at-start'] },
  {
    error: '`systemCgroups` without `cgroupRoot`',
    source: 'ValidateKubeletConfiguration (pkg/kubelet/apis/config/validation)',
    validate: ['missing-partner'],
  },
  {
    error: '`tlsCipherSuites` without the one that HTTP/2 needs',
    source: 'ConfigureServer (golang.org/x/net/http2)',
    validate: ['fails-at-start'],
  },
  {
    error: '`port`, `readOnlyPort`, `healthzPort` that are the same',
    source: 'ListenAndServeKubeletServer (pkg/kubelet/server)',
    validate: ['fails-at-start'],
  },
  {
    error: '`address` that is not an IP address',
    source: 'ListenAndServeKubeletServer (pkg/kubelet/server)',
    validate: ['fails-at-start'],
  },
  {
    error: 'a port that another program has',
    source: 'ListenAndServeKubeletServer (pkg/kubelet/server)',
    preflight: ['port-taken'],
  },
  {
    error: '`address` that the machine lacks',
    source: 'ListenAndServeKubeletServer (pkg/kubelet/server)',
    preflight: ['no-such-address'],
  },
  {
    error: '`address: "::"` on a kernel without IPv6',
    source: 'ListenAndServeKubeletServer (pkg/kubelet/server)',
    trial: 'no address of IPv6 does not mean that the kernel has no IPv6',
  },
  {
    error: 'the socket for resources of pods cannot be made',
    source: 'ListenAndServePodResources (pkg/kubelet/server)',
    trial: CONFIG_IS_INNOCENT,
  },
  {
    error: 'the API server refuses the CSINode for minutes',
    source: 'initializeCSINode (pkg/volume/csi)',
    trial: CONFIG_IS_INNOCENT,
  },
  {
    error: 'a config that makes a release panic or hang',
    source: 'the table of known faults',
    validate: ['known-bad'],
    preflight: ['known-bad'],
  },
];

const PLACES = [
  [
    'validate',
    'Said by `validate`',
    'By the config alone, for each version: a finding in review, the codes of [findings.md](findings.md).',
  ],
  [
    'preflight',
    'Said by the agent’s preflight',
    'By the machine, before the kubelet hears of the config: the codes of [preflight.md](../preflight.md).',
  ],
  [
    'trial',
    'Seen by the trial only',
    'The canary’s kubelet ends; the agent takes the config back, and the rollout halts.',
  ],
] as const;

/** The first place that says it. */
export const placeOf = ({ validate, preflight }: StartError): (typeof PLACES)[number][0] =>
  validate !== undefined ? 'validate' : preflight !== undefined ? 'preflight' : 'trial';

/** The page with every error by which a kubelet ends at its start. */
export function generateStartErrorsPage(): ReadonlyMap<string, string> {
  const sections = PLACES.map(([place, heading, about]) => {
    const errors = START_ERRORS.filter((error) => placeOf(error) === place);
    const lines = errors.map((error) => `| ${error.error} | ${sourceOf(error)} | ${saidBy(error)} |\n`);
    const last = place === 'trial' ? 'why not before' : 'code';
    return `## ${heading}: ${errors.length}\n\n${about}\n\n| error | in the kubelet | ${last} |\n| --- | --- | --- |\n${lines.join('')}`;
  });
  const text = `<!-- Generated by scripts/generate.ts from scripts/generate/start-errors-page.ts. Do not edit. -->

# What ends a kubelet at its start

${START_ERRORS.length} errors on the way of kubelet 1.37 from its command line to its servers, and where each is said first.

${sections.join('\n')}`;
  return new Map([['docs/reference/kubelet-start-errors.md', text]]);
}

const sourceOf = ({ source }: StartError): string =>
  source.replace(/^(\w+(?:, \w+)*) \(/, (_, names: string) => `\`${names}\` (`);

function saidBy({ validate, preflight, trial }: StartError): string {
  const codes = (list: readonly string[] = []): string => list.map((code) => `\`${code}\``).join(', ');
  if (validate === undefined) return preflight === undefined ? (trial ?? '') : codes(preflight);
  return preflight === undefined ? codes(validate) : `${codes(validate)}; by the machine ${codes(preflight)}`;
}
