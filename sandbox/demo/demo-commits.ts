import type { StatusView } from '#cli/status/render.ts';
import { withFields } from './template-repository.ts';

/** A commit of the story, and what it brings about. */
export interface DemoCommit {
  readonly title: string;
  /** Files that the commit has otherwise than the one before. */
  readonly changed: Readonly<Record<string, string>>;
  readonly message: string;
  /** Whether everything has happened that this chapter tells of. */
  readonly isOver: (view: StatusView) => boolean;
}

export const AUTHOR = { name: 'Ada Admin', email: 'ada@example.com' };

const GENERAL = 'pools/general/kubelet.yaml';
const GPU = 'pools/gpu/kubelet.yaml';

/**
 * The story's commits, in order. Where they lead to is where docs/tutorial.md goes on.
 *
 * @param files of the repository at its first push
 */
export function demoCommits(files: Readonly<Record<string, string>>): readonly DemoCommit[] {
  const general = files[GENERAL] ?? '';
  const gpu = files[GPU] ?? '';
  return [
    {
      title: 'The repository is pushed for the first time: every node is taken over, pool by pool',
      changed: files,
      message: 'Start from the template',
      isOver: isSettled,
    },
    {
      title: 'A good change: more pods on the general pool, one node at a time',
      changed: { [GENERAL]: withFields(general, { maxPods: 150 }) },
      message: 'Raise maxPods on general to 150',
      isOver: isSettled,
    },
    {
      title: 'A change that validation refuses: no kubelet hears of it, and the other pools are not held up',
      changed: { [GPU]: `${gpu}maxPodz: 64\n` },
      message: 'Raise maxPods on gpu',
      isOver: (view) => isRefused(view, 'gpu'),
    },
    {
      title: 'A valid change for larger machines: preflight refuses it on the node, and no kubelet restarts',
      changed: { [GPU]: gpu, [GENERAL]: withFields(general, { maxPods: 150, reservedSystemCPUs: '0,4' }) },
      message: 'Fix gpu; keep CPUs 0 and 4 for the system on general',
      isOver: (view) => phaseOf(view, 'general') === 'Halted' && isAtRest(view),
    },
    {
      title: 'A change that validation only warns of, that passes preflight, and that kills the kubelet',
      changed: { [GENERAL]: withFields(general, { maxPods: 150, maxOpenFiles: 20 }) },
      message: 'Limit open files on general',
      isOver: (view) => phaseOf(view, 'general') === 'Halted' && isAtRest(view),
    },
    {
      title: 'The revert: the nodes run it already, so nothing restarts',
      changed: { [GENERAL]: withFields(general, { maxPods: 150 }) },
      message: 'Revert "Limit open files on general"',
      isOver: isSettled,
    },
  ];
}

const isSettled = ({ pools }: StatusView): boolean =>
  pools.length > 0 && pools.every(({ status }) => status?.phase === 'Settled');
const isAtRest = ({ nodes }: StatusView): boolean => nodes.every(({ status }) => status?.phase === 'Idle');
const poolIn = ({ pools }: StatusView, name: string): StatusView['pools'][number] | undefined =>
  pools.find(({ metadata }) => metadata.name === name);
const phaseOf = (view: StatusView, pool: string): string | undefined => poolIn(view, pool)?.status?.phase;
const isRefused = (view: StatusView, pool: string): boolean =>
  poolIn(view, pool)?.status?.conditions?.some(({ type, status }) => type === 'ConfigValid' && status === 'False') ===
  true;
