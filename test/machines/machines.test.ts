import { describeEveryday } from './stories/everyday.ts';
import { describeReconciled } from './stories/reconciled.ts';
import { describeSizes, LARGE } from './stories/sizes.ts';
import { describeMachine } from './support/world.ts';

await describeMachine('a machine with the newest kubelet', {
  other: LARGE,
  stories: [describeEveryday, describeSizes, describeReconciled],
});
