import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import type { Kube } from '#shared/kube/kube.ts';
import type { Transport } from '#shared/kube/transport.ts';
import { type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { VERSION } from '#shared/runtime/version.ts';
import { type Facts, valueOr } from '../doctor/facts.ts';
import { diagnose } from '../doctor/diagnose/diagnose.ts';
import { readFacts } from '../doctor/read/read-facts.ts';
import { doctorAsText } from '../doctor/render.ts';
import { listPastEvents } from '../events/past-events.ts';
import { readPastFacts } from '../events/read-past-facts.ts';
import { eventsAsText } from '../events/render.ts';
import { plain } from '../paint.ts';
import { readClusterStatus } from '../status/read-status.ts';
import { renderStatus } from '../status/render.ts';
import { redact } from '#shared/runtime/redact.ts';
import { redactValue } from './redact-value.ts';

export interface Reports {
  readonly files: ReadonlyMap<string, string>;
  readonly gaps: readonly string[];
}

const README = `A support bundle of kubelet-gitops.

Secrets were not read, and what looks like a credential was replaced by [redacted]. Names of nodes, pools, hosts and
people are in here.

doctor.txt, status.txt, events.txt   what the commands of these names say
versions.json                        versions of everything that took part
objects/                             the objects that this software makes or looks at, as far as it is about them
logs/                                what its pods wrote; .previous is from before the last restart
gaps.txt                             what could not be read, and why
`;

/** What the commands say that only read. A command that cannot run is a gap; doctor says why by itself. */
export async function reportFiles(kube: Kube, transport: Transport, namespace: string, now: Millis): Promise<Reports> {
  const files = new Map([['README.txt', README]]);
  const gaps: string[] = [];
  const add = async (file: string, make: () => Promise<string>): Promise<void> => {
    try {
      files.set(file, redact(await make()));
    } catch (error) {
      gaps.push(redact(`${file}: ${reasonOf(error)}`));
    }
  };
  const facts = await readFacts(kube, transport, namespace, now);
  const found = redactValue(diagnose(facts)) as ReturnType<typeof diagnose>;
  files.set('doctor.txt', doctorAsText(found, plain));
  files.set('doctor.json', `${JSON.stringify({ diagnoses: found }, null, 2)}\n`);
  files.set('versions.json', `${JSON.stringify(redactValue(versionsOf(facts)), null, 2)}\n`);
  await add('status.txt', async () => renderStatus(await readClusterStatus(kube), plain, now));
  await add('events.txt', async () => eventsAsText(listPastEvents(await readPastFacts(kube)), plain));
  return { files, gaps };
}

function versionsOf(facts: Facts): object {
  const { now, namespace } = facts;
  const counted = (versions: readonly string[]): Readonly<Record<string, number>> =>
    Object.fromEntries([...Map.groupBy(versions, (version) => version)].map(([version, all]) => [version, all.length]));
  return {
    at: toTimestamp(now),
    namespace: namespace === DEFAULT_NAMESPACE ? undefined : namespace,
    cli: VERSION,
    node: process.version,
    reconcilerImage: valueOr(facts.reconciler, null)?.image,
    agentImage: valueOr(facts.agents, null)?.image,
    agents: counted(valueOr(facts.kubeletNodes, []).map(({ status }) => status?.agentVersion ?? 'unknown')),
    kubelets: counted(valueOr(facts.nodes, []).map(({ kubeletVersion }) => kubeletVersion)),
  };
}
