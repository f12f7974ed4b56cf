import { describeJoining, joinsByToken, TOKEN_FLAG } from '../stories/joining.ts';
import { describeMachine } from '../support/world.ts';

await describeMachine('a machine that joined by a bootstrap token', {
  apiServerArgs: [TOKEN_FLAG],
  credentials: joinsByToken,
  stories: [describeJoining],
});
