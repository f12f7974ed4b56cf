import { powerOf } from '#shared/contract/kubelet-config/security/powers.ts';
import { valueIn } from '#shared/runtime/maps.ts';
import type { NodeReading } from './nodes/importable-nodes.ts';
import { firstNames } from './format-lists.ts';

/**
 * Nodes whose kubelet serves who has no business there, with the values that let them in, as lines for people; none where all are shut.
 * These fields stay with the node, so nothing of the import would show them. A field that a file leaves out is shut: what a kubelet with
 * a config file defaults to (`SetDefaults_KubeletConfiguration` of v1beta1). Pure.
 */
export function openKubelets(nodes: readonly NodeReading[]): readonly string[] {
  const found = nodes.flatMap(({ name, running }) => waysIn(running ?? {}).map((way) => ({ name, way })));
  return [...Map.groupBy(found, ({ way }) => way)].map(
    ([way, on]) =>
      `SECURITY: ${firstNames(on.map(({ name }) => name))}: ${way}. Nothing here changes that: fix it in the node's own config or flags`,
  );
}

function waysIn(running: Readonly<Record<string, unknown>>): readonly string[] {
  const isAnonymous = valueIn(running, ['authentication', 'anonymous', 'enabled']) === true;
  const isAllowed = valueIn(running, ['authorization', 'mode']) === 'AlwaysAllow';
  const port = running['readOnlyPort'];
  const [anonymous, allowed] = ['authentication.anonymous.enabled: true', 'authorization.mode: AlwaysAllow'];
  const run = 'runs commands in every pod of the node';
  return [
    ...(isAnonymous && isAllowed ? [`${anonymous}, ${allowed}: anybody who reaches its port ${run}`] : []),
    ...(isAnonymous && !isAllowed
      ? [`${anonymous}: it asks for no credential; whatever RBAC gives system:anonymous stands open`]
      : []),
    ...(isAllowed && !isAnonymous ? [`${allowed}: whoever has any credential that it takes ${run}`] : []),
    ...(typeof port === 'number' && port > 0 ? [`readOnlyPort: ${port}: ${powerOf('readOnlyPort')?.gives}`] : []),
  ];
}
