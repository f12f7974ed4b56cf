import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { createPreflight } from '#agent/preflight/preflight.ts';
import { demoCommits } from '#sandbox/demo/demo-commits.ts';
import { templateFiles } from '#sandbox/demo/template-repository.ts';
import { SMALL_HOST, hostProblem } from '#sandbox/kubelet/host.ts';
import { simulatedHostLook } from '#sandbox/kubelet/simulated-host-facts.ts';
import type { Finding } from '#shared/contract/finding.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { isMap } from '#shared/runtime/maps.ts';

const GENERAL = 'pools/general/kubelet.yaml';
const KUBELET = { configFile: '/etc/kubelet.yaml', dropInDirectory: undefined, rootDirectory: '/var/lib/kubelet' };

const preflight = createPreflight({
  configFile: KUBELET.configFile,
  configDirectory: KUBELET.dropInDirectory,
  host: simulatedHostLook({ host: SMALL_HOST, ...KUBELET }),
});

/** Each chapter stands for one way to be wrong: what refuses it must be what its title says, and nothing earlier. */
describe('what stops the configs of the story', async () => {
  const chapters = demoCommits(await templateFiles());
  async function judged(title: RegExp) {
    const chapter = chapters.find((each) => title.test(each.title));
    const config: unknown = parse(chapter?.changed[GENERAL] ?? '');
    assert.ok(isMap(config), String(title));
    const onHost = await preflight(config, 'v1.34.2', { payload: config, apply: 'overlay' });
    return {
      byValidation: errors(validateKubeletConfig(config, { minor: 'v1.34.2' })),
      byPreflight: errors(onHost),
      byKubelet: hostProblem(config, SMALL_HOST),
    };
  }

  it('is preflight, where the chapter says preflight', async () => {
    const { byValidation, byPreflight, byKubelet } = await judged(/preflight refuses it/);
    assert.deepEqual([byValidation, byPreflight], [[], ['no-such-cpu']]);
    assert.match(byKubelet ?? '', /not a subset of the online CPUs/);
  });

  it('is the kubelet alone, where the chapter says that it is killed', async () => {
    const { byValidation, byPreflight, byKubelet } = await judged(/kills the kubelet/);
    assert.deepEqual([byValidation, byPreflight], [[], []]);
    assert.match(byKubelet ?? '', /too many open files/);
  });

  it('is nothing, in a good change', async () => {
    assert.deepEqual(await judged(/good change/), { byValidation: [], byPreflight: [], byKubelet: null });
  });
});

const errors = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);
