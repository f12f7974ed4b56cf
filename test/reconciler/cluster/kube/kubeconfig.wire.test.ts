import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listNodes, listNodesElsewhere } from '../../../support/kubeconfig/list-nodes.ts';
import { expectedOf, prepareRow, type WireRow } from '../../../support/kubeconfig/wire-row.ts';
import { WIRE_ROWS } from '../../../support/kubeconfig/wire-rows.ts';
import { startWireWorld, type WireWorld } from '../../../support/kubeconfig/wire-world.ts';

/** `test/peers/kubectl-wire.test.ts` holds a real kubectl to the same rows. */
describe('a kubeconfig over the wire', () => {
  const holds = async (row: WireRow, world: WireWorld): Promise<void> => {
    const { kubeconfig, env } = await prepareRow(row, world);
    const list = env['SSL_CERT_FILE'] === undefined ? listNodes : listNodesElsewhere;
    const said = await list(kubeconfig, env);
    const taken = await world.taken();
    assert.match(said, row.refused ?? /^$/, row.what);
    assert.deepEqual(taken, expectedOf(row), row.what);
  };

  for (const [about, rowsOf] of WIRE_ROWS) {
    it(`sends what is expected of ${about}`, async (t) => {
      const world = await startWireWorld(t);
      for (const row of rowsOf(world)) {
        await t.test(row.what, () => holds(row, world));
      }
    });
  }
});
