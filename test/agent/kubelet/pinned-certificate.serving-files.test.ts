import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { servingCertsOf, DEFAULT_SERVING_CERTS } from '#agent/kubelet/pinned-certificate.ts';

describe('where a kubelet keeps its serving certificate', () => {
  it('is the usual place, where nothing says otherwise', () => {
    assert.deepEqual(servingCertsOf({}), DEFAULT_SERVING_CERTS);
  });

  it('is the file that it was given', () => {
    assert.equal(
      servingCertsOf({ tlsCertFile: '/etc/kubernetes/pki/kubelet.crt' })[0],
      '/etc/kubernetes/pki/kubelet.crt',
    );
  });

  it('is the one that it renews where the cluster signs it, whatever it was given', () => {
    const config = { tlsCertFile: '/given.crt', serverTLSBootstrap: true };
    assert.deepEqual(servingCertsOf(config, '/pki'), [
      '/pki/kubelet-server-current.pem',
      '/given.crt',
      '/pki/kubelet.crt',
    ]);
  });

  it('is below the directory of its flag, unless that leads nowhere', () => {
    assert.deepEqual(servingCertsOf({}, '/pki'), ['/pki/kubelet-server-current.pem', '/pki/kubelet.crt']);
    for (const tlsCertFile of ['', 'relative.crt', 7]) {
      assert.deepEqual(servingCertsOf({ tlsCertFile }, 'relative'), DEFAULT_SERVING_CERTS);
    }
  });
});
