import assert from 'node:assert/strict';
import { until } from '../../support/until.ts';
import type { Behaviours } from '../suite.ts';
import type { Loose } from '../support/raw.ts';

/** The real server takes a moment. */
const SOON = { withinMs: 120_000, everyMs: 50 };

export const definitionBehaviours: Behaviours = {
  async 'all kinds are served with their short names and their status'({ raw }) {
    const listed = async (): Promise<Loose[]> =>
      (await raw.call({ path: '/apis/kubelet-gitops.dev/v1alpha1' })).json().resources;
    // Discovery follows a moment after the definitions, in no order.
    await until('discovery', async () => (await listed()).length >= 6, SOON);
    const found = (await listed())
      .map(({ name, kind, namespaced, shortNames, categories }) => ({
        name,
        kind,
        namespaced,
        shortNames,
        categories,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const categories = ['kubelet-gitops'];
    const node = { kind: 'KubeletNode', namespaced: false };
    const pool = { kind: 'KubeletPool', namespaced: false };
    const source = { kind: 'KubeletSource', namespaced: false };
    const none = { shortNames: undefined, categories: undefined };
    assert.deepEqual(found, [
      { name: 'kubeletnodes', ...node, shortNames: ['knode'], categories },
      { name: 'kubeletnodes/status', ...node, ...none },
      { name: 'kubeletpools', ...pool, shortNames: ['kpool'], categories },
      { name: 'kubeletpools/status', ...pool, ...none },
      { name: 'kubeletsources', ...source, shortNames: ['ksource'], categories },
      { name: 'kubeletsources/status', ...source, ...none },
    ]);
  },
};
