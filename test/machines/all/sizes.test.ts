import { describeSizes, LARGE } from '../stories/sizes.ts';
import { describeMachine } from '../support/world.ts';

await describeMachine('machines of two sizes', { other: LARGE, stories: [describeSizes] });
