import { after, before, describe, it } from 'node:test';
import { accessBehaviours } from './behaviours/access.ts';
import { allowanceBehaviours } from './behaviours/allowances.ts';
import { configMapBehaviours } from './behaviours/config-maps.ts';
import { creatingBehaviours } from './behaviours/creating.ts';
import { deletingBehaviours } from './behaviours/deleting.ts';
import { evictingBehaviours } from './behaviours/evicting.ts';
import { definitionBehaviours } from './behaviours/definitions.ts';
import { eventBehaviours } from './behaviours/events.ts';
import { formBehaviours } from './behaviours/forms.ts';
import { leaseBehaviours } from './behaviours/leases.ts';
import { listingBehaviours } from './behaviours/listing.ts';
import { markingBehaviours } from './behaviours/marking.ts';
import { patchingBehaviours } from './behaviours/patching.ts';
import { statusBehaviours } from './behaviours/status.ts';
import { validatingBehaviours } from './behaviours/validating.ts';
import { waitingBehaviours } from './behaviours/waiting.ts';
import { watchingBehaviours } from './behaviours/watching.ts';
import { API_SCENARIOS } from '../dkc/api.ts';
import { type Bench, benchOn } from './support/bench.ts';
import type { Connect, Connection } from './support/connection.ts';

/** What the project relies on in an API server, each in a sentence, and how to see it. */
export type Behaviours = Readonly<Record<string, (bench: Bench) => Promise<void>>>;

const GROUPS: Readonly<Record<string, Behaviours>> = {
  creating: creatingBehaviours,
  patching: patchingBehaviours,
  'the status subresource': statusBehaviours,
  deleting: deletingBehaviours,
  events: eventBehaviours,
  'config maps': configMapBehaviours,
  validating: validatingBehaviours,
  allowances: allowanceBehaviours,
  definitions: definitionBehaviours,
  listing: listingBehaviours,
  watching: watchingBehaviours,
  waiting: waitingBehaviours,
  'forms of an answer': formBehaviours,
  leases: leaseBehaviours,
  evicting: evictingBehaviours,
  'marking Nodes': markingBehaviours,
  access: accessBehaviours,
  'Dynamic Kubelet Configuration': Object.fromEntries(
    API_SCENARIOS.map(({ dkc, title, see }) => [`dkc ${dkc}: ${title}`, see]),
  ),
};

/**
 * What the project relies on in an API server, tried on one. The same behaviours hold for a real kube-apiserver and for
 * the sandbox; where they differ it is the sandbox that is wrong.
 */
export function conformance(name: string, connect: Connect): void {
  describe(name, () => {
    let connection: Connection | undefined;
    let bench: Bench | undefined;
    let reason = 'there is no server';
    before(async () => {
      const connected = await connect();
      if ('skip' in connected) {
        reason = connected.skip;
      } else {
        connection = connected;
        bench = benchOn(connected);
      }
    });
    after(() => connection?.close());
    for (const [group, behaviours] of Object.entries(GROUPS)) {
      describe(group, { concurrency: group === 'waiting' }, () => {
        for (const [sentence, see] of Object.entries(behaviours)) {
          it(sentence, (t) => (bench === undefined ? t.skip(reason) : see(bench)));
        }
      });
    }
  });
}
