import { after, before } from 'node:test';
import { nodeSkipReason as whyNoKubelet } from '../cluster/support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../cluster/support/control-plane.ts';
import { installManifests } from '../cluster/support/programs.ts';
import { MINOR } from '../cluster/support/kubelet-of-minor.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { describeChanges } from './real-node/changes.ts';
import { describeDropIns } from './real-node/drop-ins.ts';
import { describeFailures } from './real-node/failures.ts';
import { describeHost } from './real-node/host.ts';
import { describeSilence } from './real-node/silence.ts';
import { describeUnattended } from './real-node/unattended.ts';
import { bundleAgent } from './support/agent-service.ts';
import { nodeSkipReason as whyNoMachine } from './support/tree.ts';

const skip = (await whyNoKubelet()) || (await whyNoMachine());

/** Without an environment variable beside the flag. */
const FIRST_MINOR_WITH_CONFIG_DIR = 30;

/**
 * Nodes as they are: systemd, containerd, a kubelet of the oldest or the newest minor, our agent as it ships, reboots. Several at a time, because most
 * of the time all there is to do is to wait for a kubelet.
 */
describeOrSkip('real nodes of a real cluster', { skip, concurrency: 5 }, () => {
  let cluster: ControlPlane;
  let agent: Awaited<ReturnType<typeof bundleAgent>>;
  before(async () => {
    cluster = await startControlPlane();
    await installManifests(cluster);
    agent = await bundleAgent();
  });
  after(async () => {
    await cluster?.stop();
    await agent?.remove();
  });
  const world = { cluster: () => cluster, agentDirectory: () => agent.directory };
  describeChanges(world);
  describeFailures(world);
  describeHost(world);
  describeSilence(world);
  describeUnattended(world);
  if (MINOR >= FIRST_MINOR_WITH_CONFIG_DIR) describeDropIns(world);
});
