import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, forAll } from '../../../support/property.ts';
import { unpackLz4 } from '#agent/host/journal/lz4.ts';

/** What liblz4 1.9.4 made of them. */
const BLOCKS: readonly (readonly [string, string])[] = [
  [`MESSAGE=${'x'.repeat(700)}`, 'n01FU1NBR0U9eAEA//+lUHh4eHh4'],
  [
    'MESSAGE=E1122 15:27:13.502266      69 run.go:74] "command failed" err="failed to validate kubelet configuration, error: [invalid configuration: imageGCHighThresholdPercent (--image-gc-high-threshold) 200 must be between 0 and 100, inclusive, invalid configuration: maxPods (--max-pods) -3 must not be a negative number, invalid configuration: kubeAPIBurst (--kube-api-burst) -1 must not be a negative number, invalid configuration: registryPullQPS (--registry-qps) -1 must not be a negative number, invalid configuration: eventBurst (--event-burst) -1 must not be a negative number]"',
    '8Q9NRVNTQUdFPUUxMTIyIDE1OjI3OjEzLjUwMjI2NiABAPIVNjkgcnVuLmdvOjc0XSAiY29tbWFuZCBmYWlsZWQiIGVycj0iDQDwFCB0byB2YWxpZGF0ZSBrdWJlbGV0IGNvbmZpZ3VyYXRpb24sLwBxb3I6IFtpbioACh8A8RI6IGltYWdlR0NIaWdoVGhyZXNob2xkUGVyY2VudCAoLS0fAKQtZ2MtaGlnaC10IgDwCSkgMjAwIG11c3QgYmUgYmV0d2VlbiAwIKgA4DEwMCwgaW5jbHVzaXZlCwAPeQACcG1heFBvZHNlAMJtYXgtcG9kcykgLTNVACFub1kA/wJhIG5lZ2F0aXZlIG51bWJlck4ABgD9AHFBUElCdXJzuAAAEABgLWFwaS1iEgBPKSAtMVkAJPAAcmVnaXN0cnlQdWxsUVBTrwAEEwAwLXFwswAPWgAlVWV2ZW50sQABDgAPrgASUGJlcl0i',
  ],
];

describe('a block of LZ4', () => {
  for (const [text, packed] of BLOCKS) {
    const block = Buffer.from(packed, 'base64');

    it(`is unpacked, as far as is wanted: ${text.slice(0, 20)}…`, () => {
      assert.equal(unpackLz4(block, 4096).toString(), text);
      for (const most of [0, 1, 8, 9, 20, 300, text.length])
        assert.equal(unpackLz4(block, most).toString(), text.slice(0, most));
    });

    it(`never gives more than is wanted, whatever is damaged or cut off: ${text.slice(0, 20)}…`, () => {
      const damage = fc.array(fc.tuple(fc.nat(block.length - 1), fc.nat(255)), { maxLength: 4 });
      forAll(damage, fc.nat(block.length), fc.nat(1_000), (bytes, length, most) => {
        const spoiled = Buffer.from(block);
        for (const [at, byte] of bytes) spoiled[at] = byte;
        try {
          assert.ok(unpackLz4(spoiled.subarray(0, length), most).length <= most);
        } catch (error) {
          assert.ok(error instanceof RangeError, String(error));
        }
      });
    });
  }
});
