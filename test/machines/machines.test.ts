import { describeEveryday } from './stories/everyday.ts';
import { describeReconciled } from './stories/reconciled.ts';
import { describeMachine } from './support/world.ts';

await describeMachine('a machine with the newest kubelet', { stories: [describeEveryday, describeReconciled] });
