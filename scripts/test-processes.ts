/** Test files that run in one process, one after the other. */
export interface TestProcess {
  readonly name: string;
  readonly files: readonly string[];
}

/**
 * Folders whose test files share a process. To start one and to load what a file imports takes longer than most files do, and code
 * that has run before is quick. What changes its own process (its environment, its working directory) stays alone, and so do
 * those that wait for other processes longest: they would wait one after the other.
 */
const TOGETHER: readonly (readonly [name: string, folders: RegExp])[] = [
  ['agent-kubelet', /^test\/agent\/(?:checkpoint|kubelet)\//],
  ['agent-guard', /^test\/agent\/guard\//],
  ['agent', /^test\/agent\//],
  ['cli', /^test\/cli\//],
  ['deploy', /^test\/deploy\//],
  ['dkc', /^test\/dkc\//],
  ['docs', /^test\/(?:architecture|docs)\//],
  ['git', /^test\/reconciler\/git\//],
  ['reconciler-cluster', /^test\/reconciler\/cluster\//],
  ['reconciler-policy', /^test\/reconciler\/policy\//],
  ['reconciler-reporting', /^test\/reconciler\/reporting\//],
  ['reconciler', /^test\/reconciler\//],
  ['sandbox', /^test\/(?:conformance|sandbox)\//],
  [
    'stories-sandbox',
    /^test\/stories\/(?:agent\/local-kubelet|reconciler\/(?:git-or-api|commit-to-kubelet|canary-waves))/,
  ],
  ['stories-leader', /^test\/stories\/reconciler\/(?:older-crds|unreadable|leader-|api-server)/],
  ['stories-agent', /^test\/stories\/agent\/(?!uninstall)/],
  ['stories-rollout', /^test\/stories\/rollout\//],
  ['stories', /^test\/stories\//],
  ['security', /^test\/security\/(?:forge|fuzz)-/],
  ['shared', /^test\/shared\//],
];

/**
 * In these folders and alone: those that change their own process or measure its memory, and those that take as long as all the
 * others there.
 */
const ALONE = new RegExp(
  `/(?:${[
    'agent/(?:lock|agent\\.crash-points|decide/decide\\.model)',
    'deploy/(?:dashboard|image|release/artifacts)',
    'dkc/coverage',
    'docs/(?:contributing|editor-schemas|review|template-\\w+|tutorial)',
    'kube/client\\.upstream',
    'git/(?:snapshot/find-folder|git\\.memory|git-source\\.size-limits|ssh/ssh\\.same-tests-as-http|trust/commit-trust\\.signatures)',
    'reconciler/main',
    'rollout/(?:max-unavailable-never-exceeded|proof-laws-hold)',
    'runtime/clock',
    'simulate/fleet/simulated-agent',
  ].join('|')})\\.test\\.ts$`,
);

/** These wait for whole systems, up to half a minute each. Begun last, one of them would keep one core busy and all others idle. */
const LONG =
  /^test\/(?:docs\/tutorial|security\/secrets|stories\/(?:agent\/(?:local-kubelet|uninstall)|git|reconciler)|reconciler\/git\/)/;

/** As these would, which take ten seconds of CPU. */
const HEAVY = /^test\/(?:agent\/(?:agent\.crash-points|decide\/decide\.model)|security\/hostile-packs)\./;

/** Every file in one process, those that take long at the front. */
export function inProcesses(files: readonly string[]): readonly TestProcess[] {
  const nameOf = (file: string): string =>
    (ALONE.test(file) ? undefined : TOGETHER.find(([, folders]) => folders.test(file))?.[0]) ?? file;
  const processes = [...Map.groupBy(files, nameOf)].map(([name, of]): TestProcess => ({ name, files: of }));
  const rank = ({ files: [first = '', second] }: TestProcess): number =>
    LONG.test(first) ? 0 : HEAVY.test(first) ? 1 : second === undefined ? 3 : 2;
  return processes.toSorted((one, other) => rank(one) - rank(other) || other.files.length - one.files.length);
}
