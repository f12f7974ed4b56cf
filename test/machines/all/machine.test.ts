import { describeClocks } from '../stories/clocks.ts';
import { describeHost } from '../stories/host.ts';
import { describePower } from '../stories/power.ts';
import { describeReboots } from '../stories/reboots.ts';
import { describeRuntime } from '../stories/runtime.ts';
import { describeUpgrades } from '../stories/upgrades.ts';
import { describeMachine } from '../support/world.ts';

await describeMachine('a machine with the newest kubelet, in rarer weather', {
  stories: [describeRuntime, describeHost, describeClocks, describeUpgrades, describeReboots, describePower],
});
