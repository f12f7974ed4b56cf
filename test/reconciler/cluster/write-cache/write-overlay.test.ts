import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createWriteOverlay, type WriteOverlayRules } from '#reconciler/cluster/write-cache/write-overlay.ts';
import { WRITTEN_MARKS, WRITTEN_NODES, WRITTEN_POOLS } from '#reconciler/cluster/write-cache/write-overlay-rules.ts';
import { CORDONED_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { formatMark } from '#reconciler/policy/disruption/drain-mark.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const START: Millis = 1_000;
const FOR_EVER: Millis = 10 * 365 * 86_400_000;

/** One kind of object, before and after a write of the reconciler. */
interface Kind {
  readonly what: string;
  readonly before: KubeObject;
  readonly written: KubeObject;
  /** Plays what happens on an overlay of this kind, and says whether what was written shows in the end. */
  play(story: Story): boolean;
}

interface Story {
  /** Since the write, when it is looked. */
  readonly afterMs?: Millis;
  /** After the write; before it where this is negative. Never listed again: undefined. */
  readonly listedMs?: Millis;
  /** null: the watch does not show the object. */
  readonly watched: KubeObject | null;
  /** What the watch shows at a second look. */
  readonly later?: KubeObject | null;
}

function kind<T>(
  what: string,
  rules: WriteOverlayRules<T>,
  before: KubeObject,
  written: KubeObject,
  mark: (item: T) => unknown,
): Kind {
  return {
    what,
    before,
    written,
    play({ afterMs = 0, listedMs = -START, watched, later }) {
      const clock = createManualClock();
      clock.skip(START);
      const overlay = createWriteOverlay(clock, rules);
      const look = (object: KubeObject | null): boolean => {
        const items = new Map(object === null ? [] : [['a', rules.view(object)]]);
        const shown = overlay.merge(items, START + listedMs).get('a');
        return shown !== undefined && mark(shown) === mark(rules.view(written));
      };
      overlay.wrote(written);
      clock.skip(afterMs);
      const first = look(watched);
      return later === undefined ? first : look(later);
    },
  };
}

const object = (metadata: object, more: object = {}): KubeObject => ({
  metadata: { name: 'a', uid: 'u', ...metadata },
  ...more,
});
const cordoned = { [CORDONED_ANNOTATION]: formatMark({ config: 'general-7k2mh5gf8d', at: 1_760_000_000_000 }) };

const NODES = kind(
  'the spec of a KubeletNode',
  WRITTEN_NODES,
  object({ generation: 1 }, { spec: { pool: 'old' } }),
  object({ generation: 2 }, { spec: { pool: 'new' } }),
  ({ spec }) => spec?.pool,
);
const POOLS = kind(
  'the status of a KubeletPool',
  WRITTEN_POOLS,
  object({ generation: 1, resourceVersion: '7' }, { status: { phase: 'Progressing' } }),
  object({ generation: 1, resourceVersion: '9' }, { status: { phase: 'Settled' } }),
  ({ status }) => status?.phase,
);
const MARKS = kind(
  'a mark on a Node',
  WRITTEN_MARKS,
  object({}),
  object({ annotations: cordoned }, { spec: { unschedulable: true } }),
  (node) => node.cordoned,
);

type Row = readonly [kind: Kind, when: string, story: (kind: Kind) => Story, shows: boolean];

const bound = (kind: Kind, when: string, watched: (kind: Kind) => KubeObject | null, atMs: Millis): readonly Row[] => [
  [kind, `${when}, a moment before ${atMs / 1000} s`, (of) => ({ watched: watched(of), afterMs: atMs - 1 }), true],
  [kind, `${when}, at ${atMs / 1000} s`, (of) => ({ watched: watched(of), afterMs: atMs }), true],
  [kind, `${when}, a moment after ${atMs / 1000} s`, (of) => ({ watched: watched(of), afterMs: atMs + 1 }), false],
];
const asBefore = ({ before }: Kind): KubeObject => before;
const notAtAll = (): null => null;

const ROWS: readonly Row[] = [
  ...[NODES, POOLS, MARKS].flatMap((each): readonly Row[] => [
    [each, 'the watch is behind', ({ before }) => ({ watched: before }), true],
    [each, 'it was listed a moment before', ({ before }) => ({ watched: before, listedMs: -1 }), true],
    [each, 'it was listed at that time', ({ before }) => ({ watched: before, listedMs: 0 }), true],
    [each, 'it was listed since', ({ before }) => ({ watched: before, listedMs: 1 }), false],
    [
      each,
      'the watch shows another object of the same name',
      ({ before }) => ({ watched: { ...before, metadata: { ...before.metadata, uid: 'v' } } }),
      false,
    ],
    [
      each,
      'the watch showed it, and then something older',
      ({ before, written }) => ({ watched: written, later: before }),
      false,
    ],
  ]),
  [NODES, 'the watch is behind for years', ({ before }) => ({ watched: before, afterMs: FOR_EVER }), true],
  ...bound(NODES, 'the watch does not show it at all', notAtAll, 60_000),
  ...bound(POOLS, 'the watch is behind', asBefore, 60_000),
  [POOLS, 'the watch does not show it at all', () => ({ watched: null }), false],
  ...bound(MARKS, 'the watch is behind', asBefore, 10_000),
  [MARKS, 'the watch does not show it at all', () => ({ watched: null }), false],
];

describe('what the reconciler wrote', () => {
  for (const [of, when, story, shows] of ROWS) {
    it(`${of.what} ${shows ? 'shows' : 'does not show'} when ${when}`, () => {
      assert.equal(of.play(story(of)), shows);
    });
  }
});
