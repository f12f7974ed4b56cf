import type { Registry } from '#sandbox/api-server/resources/registry.ts';
import type { ServedResource } from '#sandbox/api-server/resources/served-resource.ts';
import type { Json } from '#sandbox/api-server/stored-object.ts';

/** What the server calls itself. */
const VERSION = { major: '1', minor: '37', gitVersion: 'v1.37.0-sandbox', platform: 'sandbox' };

/** What clients ask to find out what is served; undefined for any other path. */
export function discover(path: string, registry: Registry): Json | undefined {
  const [root, group, version, ...more] = path.split('/').filter((segment) => segment !== '');
  if (root === 'version' && group === undefined) return VERSION;
  if (root === 'api') {
    if (group === undefined) return { kind: 'APIVersions', versions: ['v1'] };
    return group === 'v1' && version === undefined ? resourcesOf(registry, '', 'v1') : undefined;
  }
  if (root !== 'apis' || more.length > 0) return undefined;
  const groups = groupsOf(registry);
  if (group === undefined) return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  if (version !== undefined) return resourcesOf(registry, group, version);
  const found = groups.find(({ name }) => name === group);
  return found === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...found };
}

function groupsOf({ all }: Registry): readonly { readonly name: string; readonly preferredVersion: object }[] {
  const versions = new Map(all().map(({ resource }) => [resource.group, resource.version]));
  return [...versions]
    .filter(([name]) => name !== '')
    .map(([name, version]) => {
      const preferredVersion = { groupVersion: `${name}/${version}`, version };
      return { name, versions: [preferredVersion], preferredVersion };
    });
}

function resourcesOf({ all }: Registry, group: string, version: string): Json | undefined {
  const served = all().filter(({ resource }) => resource.group === group && resource.version === version);
  if (served.length === 0) return undefined;
  const groupVersion = group === '' ? version : `${group}/${version}`;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: served.flatMap(entriesOf) };
}

function entriesOf({ resource, singular, shortNames, categories, statusSubresource }: ServedResource): readonly Json[] {
  const { plural, kind, namespaced } = resource;
  const main = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
  const status = { name: `${plural}/status`, singularName: '', namespaced, kind, verbs: ['get', 'patch', 'update'] };
  return statusSubresource ? [main, status] : [main];
}
