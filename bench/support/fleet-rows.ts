import { type Measurement } from '../render-measurements.ts';
import type { FleetFigures, Stretch } from './fleet-run.ts';
import { POOLS } from './fleet-site.ts';

/** Writes of a rollout besides those to nodes, for each pool: its config source, and its status as it goes on. */
const WRITES_PER_POOL = 12;
/** The record of the commit in force, as it is taken up and as notes are written. */
const WRITES_OF_RECORD = 10;
/** Of the token bucket that Events go through. */
const EVENTS = { burst: 50, perSecond: 10 };
const MOST_MIB_AT_5000 = 256;
/** Two runs of the same differ by about this much here. */
const NOISE = 1.25;

const countOf = (calls: Stretch['calls'], test: (call: string) => boolean): number =>
  Object.entries(calls).reduce((sum, [call, count]) => sum + (test(call) ? count : 0), 0);
const isWrite = (call: string): boolean => /^(create|patch|delete) /.test(call) && !/ (leases|events)$/.test(call);
const isEvent = (call: string): boolean => call.endsWith(' events');
const isList = (call: string): boolean => call.startsWith('list ');

/** @param smallest the smallest fleet of the run: what growth is measured by */
export function fleetRows(of: FleetFigures, smallest: FleetFigures): readonly Measurement[] {
  const what = (text: string): string => `${of.nodes} nodes: ${text}`;
  return [...rolloutRows(of, smallest, what), ...steadyRows(of, smallest, what), restartRow(of, what)];
}

type Titled = (text: string) => string;

function rolloutRows({ nodes, change, wholeNodes }: FleetFigures, smallest: FleetFigures, what: Titled): Measurement[] {
  const factor = nodes / smallest.nodes;
  const linear = factor * smallest.change.cpuSeconds;
  const assigned = change.calls['patch kubeletnodes'] ?? 0;
  const others = countOf(change.calls, isWrite) - assigned;
  const mostOthers = POOLS * WRITES_PER_POOL + WRITES_OF_RECORD;
  const events = countOf(change.calls, isEvent);
  const mostEvents = Math.ceil(EVENTS.burst + EVENTS.perSecond * change.seconds);
  return [
    {
      what: what('a commit that touches all: CPU'),
      unit: 's',
      subject: [change.cpuSeconds],
      baseline: { what: `${smallest.nodes} nodes, × ${factor}`, values: [linear] },
      promise: { text: 'at most linear', kept: change.cpuSeconds <= NOISE * linear },
    },
    {
      what: what('peak RSS since the start of the process'),
      unit: 'MiB',
      subject: [change.peakRssMiB],
      baseline: { what: 'client-node with all Nodes', values: wholeNodes.map(({ peakRssMiB }) => peakRssMiB) },
      ...(nodes === 5_000
        ? { promise: { text: `at most ${MOST_MIB_AT_5000} MiB`, kept: change.peakRssMiB <= MOST_MIB_AT_5000 } }
        : {}),
    },
    {
      what: what('writes of assignments'),
      unit: '',
      subject: [assigned],
      baseline: { what: 'nodes', values: [nodes] },
      promise: { text: 'exactly the nodes', kept: assigned === nodes },
    },
    {
      what: what('writes to anything else but Events and the Lease'),
      unit: '',
      subject: [others],
      baseline: { what: `${POOLS} pools × ${WRITES_PER_POOL} + ${WRITES_OF_RECORD}`, values: [mostOthers] },
      promise: { text: 'at most that', kept: others <= mostOthers },
    },
    {
      what: what('writes of Events'),
      unit: '',
      subject: [events],
      baseline: { what: `${EVENTS.perSecond} a second`, values: [mostEvents] },
      promise: { text: 'at most that', kept: events <= mostEvents },
    },
  ];
}

function steadyRows({ nodes, steady }: FleetFigures, smallest: FleetFigures, what: Titled): Measurement[] {
  const factor = nodes / smallest.nodes;
  const lists = countOf(steady.calls, isList);
  const writes = countOf(steady.calls, isWrite);
  const hourly = ({ cpuSeconds, seconds }: Stretch): number => (cpuSeconds * 3600) / seconds;
  return [
    {
      what: what('steady, signs of life every 5 min: LISTs'),
      unit: '',
      subject: [lists],
      baseline: { what: 'none are needed', values: [0] },
      promise: { text: 'none', kept: lists === 0 },
    },
    {
      what: what('steady: writes but the Lease'),
      unit: '',
      subject: [writes],
      baseline: { what: 'none are needed', values: [0] },
      promise: { text: 'none', kept: writes === 0 },
    },
    {
      what: what('steady: CPU in an hour'),
      unit: 's',
      subject: [hourly(steady)],
      baseline: { what: `${smallest.nodes} nodes, × ${factor}`, values: [hourly(smallest.steady) * factor] },
    },
  ];
}

function restartRow({ restarts, wholeNodes }: FleetFigures, what: Titled): Measurement {
  const times = (of: readonly Stretch[]): number[] => of.map(({ seconds }) => seconds);
  return {
    what: what('restart to ready: time'),
    unit: 's',
    subject: times(restarts),
    baseline: { what: 'client-node, all Nodes, in turns', values: times(wholeNodes) },
  };
}
