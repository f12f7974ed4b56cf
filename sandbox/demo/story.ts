import { type StatusView, renderStatus } from '#cli/status/render.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { World } from '../world.ts';
import { narrate } from './narrate.ts';
import { SHORTENED, templateFiles, withFields } from './repository.ts';
import type { Screen } from './screen.ts';

/** Longest that any chapter may take; what is waited for usually comes within fifteen seconds. */
const PATIENCE_MS = 90_000;
const LOOK_EVERY_MS = 100;
const GENERAL = 'pools/general/kubelet.yaml';
const GPU = 'pools/gpu/kubelet.yaml';

const settled = ({ pools }: StatusView): boolean =>
  pools.length > 0 && pools.every(({ status }) => status?.phase === 'Settled');
const phaseOf = ({ pools }: StatusView, pool: string): string | undefined =>
  pools.find(({ metadata }) => metadata.name === pool)?.status?.phase;
const refused = ({ pools }: StatusView, pool: string): boolean =>
  pools
    .find(({ metadata }) => metadata.name === pool)
    ?.status?.conditions?.some(({ type, status }) => type === 'ConfigValid' && status === 'False') === true;

/** Tells the story, chapter by chapter, and shows what happens as it happens. @throws where it is told to end before its end */
export async function tellStory(world: World, screen: Screen, signal?: AbortSignal): Promise<void> {
  const { paint } = screen;
  const files = await templateFiles();
  const general = files[GENERAL] ?? '';
  const gpu = files[GPU] ?? '';
  let before: StatusView | null = null;

  /** Shows news until the condition holds for a status that speaks of this commit. */
  async function watch(commit: string, condition: (view: StatusView) => boolean): Promise<void> {
    const deadline = systemClock.monotonic() + PATIENCE_MS;
    for (;;) {
      const view = await world.status();
      signal?.throwIfAborted();
      const isTakenUp = view.source.commit === commit;
      // Pools may be a moment ahead of the record of the commit: first the cause is told, then what it brings about.
      if (isTakenUp) {
        screen.say(...narrate(before, view, paint).map((line) => `  ${line}`));
        before = view;
      }
      screen.live(['', ...renderStatus(view, paint, systemClock.now(), lineWidth(screen)).trimEnd().split('\n')]);
      if (isTakenUp && condition(view)) return;
      if (systemClock.monotonic() > deadline) throw new Error(`the story got stuck: ${JSON.stringify(view.pools)}`);
      await systemClock.sleep(LOOK_EVERY_MS);
    }
  }

  let number = 0;
  async function chapter(
    title: string,
    changed: Readonly<Record<string, string>>,
    message: string,
    until: (view: StatusView) => boolean,
  ): Promise<string> {
    number += 1;
    const author = { name: 'Ada Admin', email: 'ada@example.com' };
    screen.say('', paint('strong', `${number}. ${title}`));
    for (const [path, text] of Object.entries(changed))
      screen.say(...difference(path, world.git.files().get(path), text, screen));
    const commit = await world.git.commit({ files: changed, message, author });
    screen.say(`  ${paint('strong', 'git push')}    ${commit.slice(0, 8)} "${message}"`);
    await watch(commit, until);
    return commit;
  }

  screen.say(
    paint('strong', 'kubelet-gitops: kubelet configuration from git, with six simulated nodes in three pools'),
    '',
    'One process holds a git server, an API server, the reconciler, and a real agent for every node; only the kubelets are simulated.',
    `A trial takes ${SHORTENED.trial} here and a soak ${SHORTENED.soak}; on real nodes it is 10m and minutes.`,
  );

  await chapter(
    'The repository is pushed for the first time: every node is taken over, pool by pool',
    files,
    'Start from the template',
    settled,
  );
  await chapter(
    'A good change: more pods on the general pool, one node at a time',
    { [GENERAL]: withFields(general, { maxPods: 150 }) },
    'Raise maxPods on general to 150',
    settled,
  );
  await chapter(
    'A change that validation refuses: no kubelet hears of it, and the other pools are not held up',
    { [GPU]: `${gpu}maxPodz: 64\n` },
    'Raise maxPods on gpu',
    (view) => refused(view, 'gpu'),
  );
  screen.say(...findings(before).map((line) => `  ${paint('bad', line)}`));
  await chapter(
    'A change that is valid and kills the kubelet: reserves CPUs that these machines do not have',
    { [GPU]: gpu, [GENERAL]: withFields(general, { maxPods: 150, reservedSystemCPUs: '0-7' }) },
    'Mend gpu; reserve CPUs for the system on general',
    (view) => phaseOf(view, 'general') === 'Halted' && view.nodes.every(({ status }) => status?.phase === 'Idle'),
  );
  await chapter(
    'The revert: the nodes run it already, so nothing restarts',
    { [GENERAL]: withFields(general, { maxPods: 150 }) },
    'Revert "reserve CPUs for the system on general"',
    settled,
  );

  screen.settle();
  screen.say('', paint('strong', `${number + 1}. What the commits say now: git log --notes=kubelet-gitops/*`));
  await notesWritten(world);
  screen.say(...notes(world, screen));
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
async function notesWritten(world: World): Promise<void> {
  const [head] = world.git.log(1);
  const written = (): boolean =>
    world.git
      .readNotes(world.notesRef)
      .get(head?.oid ?? '')
      ?.includes(': settled') === true;
  await world.until('the note on the last commit', written, PATIENCE_MS);
}

function notes(world: World, { paint }: Screen): readonly string[] {
  const texts = world.git.readNotes(world.notesRef);
  return world.git.log(10).flatMap(({ oid, message }) => {
    // The JSON below the table is for programs.
    const [table = ''] = (texts.get(oid) ?? '').split('\n\n');
    const lines = table.split('\n').map((line) => `      ${line}`);
    return [
      '',
      `  ${paint('busy', `commit ${oid.slice(0, 12)}`)} ${message.split('\n')[0]}`,
      `    Notes (kubelet-gitops/demo):`,
      ...lines,
    ];
  });
}
