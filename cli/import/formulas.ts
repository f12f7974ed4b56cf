import { isDeepStrictEqual } from 'node:util';
import { sortedMachine } from '#reconciler/policy/templates/machine-class.ts';
import { type Machine, machineOf } from '#reconciler/policy/templates/machine.ts';
import { PROFILE_NAMES, type ProfileName } from '#reconciler/policy/templates/profiles.ts';
import { fillTemplate, leafPaths, templateOf } from '#reconciler/policy/templates/template.ts';
import { overReserved } from '#reconciler/policy/templates/over-reserved.ts';
import { COMPUTED_KIND, type ComputedLayer, readComputed } from '#reconciler/policy/config-repo/read-computed.ts';
import { fileReport } from '#reconciler/policy/config-repo/file-report.ts';
import { API_VERSION } from '#shared/contract/api/group.ts';
import type { Path } from '#shared/contract/kubelet-config/position.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import type { RunningFields } from './non-defaults.ts';
import type { FleetMember } from './nodes/importable-nodes.ts';
import { isMap, valueIn } from '#shared/runtime/maps.ts';

/** Nodes that run what a profile gives machines of their sizes. */
export interface FoundFormula {
  readonly profile: ProfileName;
  readonly nodes: readonly string[];
}

interface Recognised {
  /** The nodes that were given; those of a formula with marks in place of what it gives. */
  readonly members: readonly FleetMember[];
  readonly formulas: readonly FoundFormula[];
}

/** Kubelets of different sizes have to agree with a formula: what is the same on all of them is a constant. */
const FEWEST_RESULTS = 2;

/**
 * Finds the nodes whose reservations are what a profile gives their classes of machines, to the unit: a layer with that profile changes
 * nothing there. A node that is off by one unit keeps its own values. Pure.
 */
export function recogniseFormulas(members: readonly FleetMember[]): Recognised {
  const found = PROFILE_NAMES.map((profile) => ({ profile, fitting: fittingNodes(profile, members) }))
    .filter(({ fitting }) => new Set(fitting.values()).size >= FEWEST_RESULTS)
    .sort((a, b) => b.fitting.size - a.fitting.size);
  const profileOf = (name: string): ProfileName | undefined => found.find(({ fitting }) => fitting.has(name))?.profile;
  const marked = members.map((member) => {
    const profile = profileOf(member.name);
    return profile === undefined ? member : { ...member, config: withMarks(member.config, profile) };
  });
  const formulas = found.map(({ profile }) => ({
    profile,
    nodes: members.flatMap(({ name }) => (profileOf(name) === profile ? [name] : [])),
  }));
  return { members: marked, formulas: formulas.filter(({ nodes }) => nodes.length > 0) };
}

/** By the name of a node, what the profile gives it: for those that run just that. */
function fittingNodes(profile: ProfileName, members: readonly FleetMember[]): ReadonlyMap<string, string> {
  const layer = layerOf(profile);
  // Machines of one size that share what they run are computed once: no profile asks for labels, which no two have alike.
  const known = new Map<RunningFields, Map<string, string | undefined>>();
  return new Map(
    members.flatMap(({ name, config, capacity, labels }) => {
      if (capacity === undefined) return [];
      const size = { kubeletVersion: '', capacity, allocatable: {} };
      const machine = machineOf({ size, labels });
      const key = JSON.stringify({ ...machine, labels: {} });
      const bySize = known.get(config) ?? new Map<string, string | undefined>();
      known.set(config, bySize);
      if (!bySize.has(key)) bySize.set(key, givenTo(config, sortedMachine(machine), layer));
      const given = bySize.get(key);
      return given === undefined ? [] : [[name, given] as const];
    }),
  );
}

/** What a profile gives a machine; undefined where it cannot be computed for it. */
export function profileFor(profile: ProfileName, machine: Machine): RunningFields | undefined {
  const layer = layerOf(profile);
  const template = templateOf(layer.value, layer.leaves, 'overlay');
  const filled = template === undefined ? undefined : fillTemplate(template, machine);
  return filled === undefined || 'because' in filled ? undefined : filled.value;
}

/** What the layer gives a machine, as text; undefined where its node runs something else. */
function givenTo(config: RunningFields, machine: Machine, layer: ComputedLayer): string | undefined {
  const { maxPods } = config;
  const template = templateOf(layer.value, layer.leaves, 'overlay');
  // What a pool says of maxPods may be left to its nodes later on: both have to give the same.
  const pods = typeof maxPods === 'number' ? maxPods : machine.maxPods;
  if (template === undefined || (template.inputs.variables.has('maxPods') && pods !== machine.maxPods))
    return undefined;
  const filled = fillTemplate(template, machine);
  if ('because' in filled || overReserved(config, 'overlay', machine) !== undefined) return undefined;
  const paths = leafPaths(template).map(({ path }) => path);
  const wanted = paths.map((path) => amountAt(filled.value, path));
  const isSame = isDeepStrictEqual(
    wanted,
    paths.map((path) => amountAt(config, path)),
  );
  return isSame && !wanted.includes(undefined) ? wanted.join(' ') : undefined;
}

const layers = new Map<ProfileName, ComputedLayer>();

/** The layer that says the profile and nothing else. */
function layerOf(profile: ProfileName): ComputedLayer {
  const known = layers.get(profile);
  if (known !== undefined) return known;
  const nowhere = (): undefined => undefined;
  const layer = readComputed(
    { apiVersion: API_VERSION, kind: COMPUTED_KIND, profile },
    fileReport('', nowhere),
    nowhere,
  );
  layers.set(profile, layer);
  return layer;
}

/** The fields that the profile gives. */
function pathsOf(profile: ProfileName): readonly (readonly string[])[] {
  const template = templateOf(layerOf(profile).value, layerOf(profile).leaves, 'overlay');
  return template === undefined ? [] : leafPaths(template).map(({ path }) => path.map(String));
}

function amountAt(config: unknown, path: Path): number | undefined {
  const value = valueIn(config, path);
  return typeof value === 'string' || typeof value === 'number' ? parseQuantity(String(value)) : undefined;
}

/** Stands for a value that a profile gives. No file's text begins like this. */
const markOf = (profile: ProfileName): string => `\0profile ${profile}`;

function withMarks(config: RunningFields, profile: ProfileName): RunningFields {
  return pathsOf(profile).reduce((marked, path) => replaced(marked, path, markOf(profile)), config);
}

/** @param value undefined takes the field away, and a map that is empty then */
function replaced(
  config: RunningFields,
  [key = '', ...below]: readonly string[],
  value: string | undefined,
): RunningFields {
  const { [key]: present, ...others } = config;
  const inner = below.length === 0 ? value : replaced(isMap(present) ? present : {}, below, value);
  const isNothing = inner === undefined || (isMap(inner) && Object.keys(inner).length === 0);
  if (isNothing) return others;
  return Object.hasOwn(config, key) ? { ...config, [key]: inner } : { ...others, [key]: inner };
}

/** A part of a config with marks: what it says itself, and the profile that gives the rest; undefined for none. */
export function splitFormula(config: RunningFields): {
  readonly plain: RunningFields;
  readonly profile: ProfileName | undefined;
} {
  const profile = PROFILE_NAMES.find((name) => pathsOf(name).some((path) => valueIn(config, path) === markOf(name)));
  if (profile === undefined) return { plain: config, profile };
  const plain = pathsOf(profile).reduce((left, path) => replaced(left, path, undefined), config);
  return { plain, profile };
}
