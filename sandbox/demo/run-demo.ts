import { type StatusView, renderStatus } from '#cli/status/render.ts';
import { CONFIG_HEALTH, type KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { Sandbox } from '../sandbox.ts';
import { AUTHOR, type DemoCommit, demoCommits } from './demo-commits.ts';
import { describeChanges } from './describe-changes.ts';
import { SHORTENED, templateFiles } from './template-repository.ts';
import type { Screen } from './screen.ts';

/** Longest that any chapter may take; what is waited for usually comes within fifteen seconds. */
const PATIENCE_MS = 90_000;
const LOOK_EVERY_MS = 100;

/** Tells the story, chapter by chapter, and shows what happens as it happens. @throws if the signal ends it early */
export async function runDemo(world: Sandbox, screen: Screen, signal?: AbortSignal): Promise<void> {
  const { paint } = screen;
  let before: StatusView | null = null;

  /** Shows news until the condition holds for a status that speaks of this commit. */
  async function watch(commit: string, condition: (view: StatusView) => boolean): Promise<void> {
    const deadline = systemClock.monotonic() + PATIENCE_MS;
    for (;;) {
      const view = await world.status();
      signal?.throwIfAborted();
      const isTakenUp = view.source.commit === commit;
      // Pools may be a moment ahead of the record of the commit: first the cause is shown, then its effects.
      if (isTakenUp) {
        screen.say(...describeChanges(before, view, paint).map((line) => `  ${line}`));
        before = view;
      }
      // Before the first commit there is nothing to see but a repository without a branch.
      if (before !== null) {
        const status = renderStatus(view, paint, systemClock.now(), lineWidth(screen));
        screen.live(['', ...status.trimEnd().split('\n')]);
      }
      if (isTakenUp && condition(view)) return;
      if (systemClock.monotonic() > deadline) throw new Error(`the story got stuck: ${JSON.stringify(view.pools)}`);
      await systemClock.sleep(LOOK_EVERY_MS);
    }
  }

  async function tell({ title, changed, message, isOver }: DemoCommit, number: number): Promise<void> {
    screen.say('', paint('strong', `${number}. ${title}`));
    const files = await world.git.files();
    for (const [path, text] of Object.entries(changed)) screen.say(...difference(path, files.get(path), text, screen));
    const commit = await world.git.commit({ files: changed, message, author: AUTHOR });
    screen.say(`  ${paint('strong', 'git push')}    ${commit.slice(0, 8)} "${message}"`);
    await watch(commit, isOver);
    screen.say(...findings(before).map((line) => `  ${paint('bad', line)}`));
  }

  screen.say(
    paint('strong', 'kubelet-gitops: kubelet configuration from git, with six simulated nodes in three pools'),
    '',
    ...(world.git.local === null
      ? []
      : [
          paint(
            'busy',
            `This git has no http-backend (a package such as git-daemon has): no server, the demo follows the local repository ${world.git.url}.`,
          ),
        ]),
    'One process holds a git repository, an API server, the reconciler, and a real agent for every node; only the kubelets are simulated.',
    `A trial takes ${SHORTENED.trial} here and a soak ${SHORTENED.soak}; on real nodes it is 10m and minutes.`,
  );

  await kubeletsUp(world);
  const chapters = demoCommits(await templateFiles());
  for (const [index, chapter] of chapters.entries()) await tell(chapter, index + 1);

  screen.settle();
  screen.say('', paint('strong', `${chapters.length + 1}. What the commits say now: git log --notes=kubelet-gitops/*`));
  await notesWritten(world);
  screen.say(...(await notes(world, screen)));
}

/** The story begins where an administrator would: on nodes that are healthy, and whose agents have said so. */
async function kubeletsUp(world: Sandbox): Promise<void> {
  const isHealthy = ({ status }: KubeletNode): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === CONFIG_HEALTH && is === 'True') === true;
  const allUp = ({ nodes }: StatusView): boolean => nodes.length === world.nodes.size && nodes.every(isHealthy);
  await world.until('every kubelet healthy', allUp, PATIENCE_MS);
}

/** The last column of a terminal stays free: see `Screen.live`. */
const lineWidth = (screen: Screen): number => (screen.columns() ?? Infinity) - 1;

function difference(path: string, old: string | undefined, text: string, { paint }: Screen): readonly string[] {
  if (old === undefined) return [];
  const [before, after] = [old.split('\n'), text.split('\n')];
  const removed = before.filter((line) => !after.includes(line)).map((line) => paint('bad', `    - ${line}`));
  const added = after.filter((line) => !before.includes(line)).map((line) => paint('good', `    + ${line}`));
  return removed.length + added.length === 0 ? [] : [`  ${path}`, ...removed, ...added];
}

function findings(view: StatusView | null): readonly string[] {
  const conditions = view?.pools.flatMap(({ status }) => status?.conditions ?? []) ?? [];
  return conditions
    .filter(({ type, status }) => type === 'ConfigValid' && status === 'False')
    .flatMap(({ message }) => message.split('\n'));
}

/** Notes follow the cluster at their own pace: the newest commit has its last one a moment after it settled. */
async function notesWritten(world: Sandbox): Promise<void> {
  const [head] = await world.git.log(1);
  const written = async (): Promise<boolean> =>
    (await world.git.readNotes(world.notesRef)).get(head?.oid ?? '')?.includes(': settled') === true;
  await world.until('the note on the last commit', written, PATIENCE_MS);
}

async function notes(world: Sandbox, { paint }: Screen): Promise<readonly string[]> {
  const texts = await world.git.readNotes(world.notesRef);
  return (await world.git.log(10)).flatMap(({ oid, message }) => {
    const note = (texts.get(oid) ?? '').trimEnd();
    const lines = note.split('\n').map((line) => `      ${line}`);
    return [
      '',
      `  ${paint('busy', `commit ${oid.slice(0, 12)}`)} ${message.split('\n')[0]}`,
      `    Notes (kubelet-gitops/demo):`,
      ...lines,
    ];
  });
}
