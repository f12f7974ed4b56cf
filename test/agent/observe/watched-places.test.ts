import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { watchedPlaces } from '#agent/observe/watched-places.ts';

const LAYOUT = { configFile: '/kubelet/config.yaml', configDirectory: '/kubelet/config.d' };
const hears = (path: string, layout: Parameters<typeof watchedPlaces>[1] = LAYOUT): boolean => {
  const [, directory = '', name = ''] = /^(.*)\/([^/]*)$/.exec(path) ?? [];
  return watchedPlaces('/state', layout).some((place) => place.directory === directory && place.hears(name));
};

describe('what the agent wants to hear of', () => {
  for (const path of [
    '/kubelet/config.yaml',
    '/kubelet/config.d/99-kubelet-gitops.conf',
    '/kubelet/config.d/50-of-the-node.conf',
    '/state/local/kubelet',
    '/state/local/record',
    '/state/checkpoints/uid',
    '/state/guard/fired',
  ]) {
    it(`${path}: yes`, () => assert.equal(hears(path), true));
  }
  for (const path of [
    // Written at every look at a trial: the agent would keep itself awake.
    '/state/meta/trial',
    '/state/guard/alive',
    '/state/guard/starts',
    '/kubelet/cpu_manager_state',
    '/kubelet/config.yaml.kubelet-gitops-tmp-01234567',
    '/kubelet/config.d/99-kubelet-gitops.conf.kubelet-gitops-restore',
  ]) {
    it(`${path}: no`, () => assert.equal(hears(path), false));
  }

  it('of no drop-ins where the kubelet reads none', () => {
    assert.equal(hears('/kubelet/config.d/50-of-the-node.conf', { ...LAYOUT, configDirectory: undefined }), false);
  });
});
