import assert from 'node:assert/strict';
import type { Accounts } from './accounts.ts';
import type { World } from './random-change.ts';

/** What an account says of the nodes of all pools. */
interface Nodes {
  /** Those that are told another config, without those that go back to their own. */
  readonly begin: readonly string[];
  readonly refuse: readonly string[];
  readonly goBack: readonly string[];
}

const sorted = (names: Iterable<string>): readonly string[] => [...new Set(names)].toSorted();

/** By pool, who is started on together, in order. */
type Generations = ReadonlyMap<string, readonly (readonly string[])[]>;

/** Where nobody approves anything, up to where the first pause is. */
function generationsIn({ plan, approves }: Accounts): Generations {
  const isHeld = plan.refusal !== undefined || plan.held !== undefined;
  const rolled = isHeld ? [] : plan.pools.filter(({ waits, rollout }) => waits === undefined && rollout !== undefined);
  return new Map(
    rolled.map(({ name, rollout }) => {
      const { stages = [], waves = [] } = rollout ?? {};
      const paused = approves ? -1 : stages.findIndex(({ approval }) => approval === true);
      const before = new Set(stages.slice(0, paused < 0 ? undefined : paused + 1).flatMap(({ nodes }) => nodes));
      return [name, waves.map((each) => each.filter((node) => before.has(node))).filter((each) => each.length > 0)];
    }),
  );
}

function planned(accounts: Accounts): Nodes {
  const { plan } = accounts;
  const begin = [...generationsIn(accounts).values()].flat(2);
  const refuse = plan.pools.flatMap(({ nodes }) =>
    nodes.flatMap(({ name, held, warnings }) =>
      held === undefined && warnings.some((warning) => warning.refuses) ? [name] : [],
    ),
  );
  const goBack = plan.refusal === undefined ? plan.moves.flatMap(({ going }) => going) : [];
  return {
    begin: sorted(begin),
    refuse: sorted(begin.filter((name) => refuse.includes(name))),
    goBack: sorted(goBack),
  };
}

/** In order, who was told what, with when. */
function toldIn({
  simulation: { events, start },
}: Accounts): readonly { readonly at: number; readonly node: string }[] {
  const back = new Set(events.flatMap(({ event, node }) => (event === 'returned' ? [node] : [])));
  return events
    .filter(({ event, node }) => (event === 'started' || event === 'refused') && !back.has(node))
    .map(({ at, node }) => ({ at: at - start, node }));
}

function simulated(accounts: Accounts): Nodes {
  const named = (kind: string): readonly string[] =>
    accounts.simulation.events.filter(({ event }) => event === kind).map(({ node }) => node);
  return {
    begin: sorted(toldIn(accounts).map(({ node }) => node)),
    refuse: sorted(named('refused')),
    goBack: sorted(named('returned')),
  };
}

function happened({ happened: events }: Accounts): Nodes {
  const named = (kind: string): readonly string[] =>
    sorted(events.filter(({ event }) => event === kind).map(({ node }) => node));
  return { begin: named('began'), refuse: named('refused'), goBack: named('went') };
}

/** What happened at once, together. */
const together = (told: readonly { readonly at: number; readonly node: string }[]): readonly (readonly string[])[] =>
  [...Map.groupBy(told, ({ at }) => at).values()].map((each) => each.map(({ node }) => node));

/** @throws AssertionError where two of the accounts of one commit differ */
export function compare(accounts: Accounts, { head }: World): void {
  const { plan, happened: events, finished } = accounts;
  assert.deepEqual(happened(accounts), planned(accounts), 'what happened is not what plan says');
  if (plan.refusal !== undefined) return;
  assert.deepEqual(simulated(accounts), planned(accounts), 'what simulate says is not what plan says');
  const rolled = generationsIn(accounts);
  const changing = rolled.size + plan.moves.filter(({ going }) => going.length > 0).length;
  // Places that pools share tell them apart in time.
  const isShared = changing > 1 && head.cluster.maxUnavailable !== null;
  for (const [pool, waves] of rolled) {
    const own = new Set(waves.flat());
    const turns = together(toldIn(accounts).filter(({ node }) => own.has(node)));
    if (isShared) assert.deepEqual(turns.flat(), waves.flat(), `order of ${pool} in simulate`);
    else assert.deepEqual(turns, waves, `who begins together in ${pool} in simulate`);
    const began = events.flatMap(({ event, node }) => (event === 'began' && own.has(node) ? [node] : []));
    assert.deepEqual(began, waves.flat(), `order of ${pool} as it happened`);
  }
  const { summary, pools } = plan;
  const waits = pools.some(({ rollout }) => rollout?.stoppedBy !== undefined || rollout?.waitsFor !== undefined);
  if (plan.held !== undefined || waits || summary.refused > 0 || summary.untimed.length > 0 || summary.waiting > 0)
    return;
  // A pool whose nodes stay not Ready is never done, so that nothing says when the others had soaked.
  const begun = new Set([...rolled.values()].flat(2));
  if (accounts.nodes.some(({ name, ready }) => !ready && begun.has(name))) return;
  const tookMs = Math.max(0, ...events.map(({ atMs }) => atMs), ...finished.values());
  const range = `${summary.quickMs / 1000} to ${summary.slowMs / 1000} s`;
  assert.ok(summary.quickMs <= tookMs && tookMs <= summary.slowMs, `it took ${tookMs / 1000} s of ${range}`);
}
