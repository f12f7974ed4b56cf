import { after, before } from 'node:test';
import { nodeSkipReason as whyNoKubelet } from '../../cluster/support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../../cluster/support/control-plane.ts';
import { installManifests } from '../../cluster/support/programs.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { goProgram } from '../../support/go-program.ts';
import { describeChanges } from '../distributions/changes.ts';
import { describeOthers } from '../distributions/others.ts';
import { describeOutages } from '../distributions/outages.ts';
import { describeServers } from '../distributions/servers.ts';
import { bundleAgent } from '../support/agent-service.ts';
import { nodeSkipReason as whyNoMachine } from '../support/tree.ts';

const starter = goProgram(
  'kubelet-starter',
  'kubelet-starter',
  'nothing proves that nodes of k3s, RKE2, k0s, MicroK8s and Kubespray change their configs',
);
const skip = (await whyNoKubelet()) || (await whyNoMachine()) || starter.skip;

/** Nodes as other distributions than kubeadm lay them out. Several at a time: most of the time all there is to do is to wait for a kubelet. */
describeOrSkip('nodes of distributions', { skip, concurrency: 5 }, () => {
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
  const world = {
    cluster: () => cluster,
    agentDirectory: () => agent.directory,
    starter: () => starter.path ?? '',
  };
  for (const name of ['k3s', 'rke2'] as const) {
    describeChanges(world, name);
    describeOutages(world, name);
  }
  describeServers(world);
  describeOthers(world);
});
