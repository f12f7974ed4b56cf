import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { redactValue } from '#cli/support-bundle/redact-value.ts';
import { redact } from '#shared/runtime/redact.ts';

const JWT = `eyJhbGciOiJSUzI1NiJ9.${'a'.repeat(40)}.${'b'.repeat(40)}`;
const KEY = `-----BEGIN OPENSSH PRIVATE KEY-----\n${'c'.repeat(64)}\n-----END OPENSSH PRIVATE KEY-----`;

/** Texts, and what in them nobody is to see. */
const SECRETS: readonly (readonly [string, string])[] = [
  ['clone https://bot:hunter2@git.example.com/x.git', 'hunter2'],
  ['ssh://git:s3cr3t@host/x', 's3cr3t'],
  ['GET https://x.example/hook?access=abc123', 'abc123'],
  ['authorization: Bearer abcdef0123456789', 'abcdef0123456789'],
  ['Authorization: Basic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
  ['sent token 0123456789abcdef0123', '0123456789abcdef0123'],
  [`got ${JWT} from it`, 'aaaa'],
  ['pushed with ghp_0123456789abcdefABCDEF0123456789abcd', 'ghp_0123'],
  ['github_pat_11ABCDEFG0123456789_abcdef', '11ABCDEFG'],
  ['PRIVATE-TOKEN: glpat-abcdefghij0123456789', 'abcdefghij'],
  ['AKIAIOSFODNN7EXAMPLE', 'IOSFODNN7'],
  ['kubeadm join --token abcdef.0123456789abcdef', '0123456789abcdef'],
  ['password=hunter2', 'hunter2'],
  ['{"password":"hunter2"}', 'hunter2'],
  [String.raw`{"msg":"{\"token\":\"hunter2\"}"}`, 'hunter2'],
  ["client_secret: 'hunter2'", 'hunter2'],
  ['API-Key: hunter2', 'hunter2'],
  [`key:\n${KEY}\nend`, 'cccc'],
  ['HTTPS_PROXY=http://user:p@ssw0rd@proxy:3128', 'ssw0rd'],
  ['https://user:pass/w0rd@proxy:3128/x', 'w0rd'],
  ['Authorization: Negotiate YIIabc', 'YIIabc'],
  ['{"authorization":"AWS4-HMAC-SHA256 Credential=AKI, Signature=fe5f80"}', 'fe5f80'],
  ['x-api-key abcdef', 'abcdef'],
  ['npm_abcdefghijklmnopqrstuvwxyz0123456789', 'abcdefghij'],
  ['dckr_pat_abcdefghijklmnop', 'abcdefghij'],
  ['DefaultEndpointsProtocol=https;AccountKey=abcd1234==;', 'abcd1234'],
  ['DB_PASS=hunter2', 'hunter2'],
  ['https://x.blob.example/y sig=abcd1234efgh5678ijkl%3D', 'abcd1234'],
  ['posted to https://hooks.slack.com/services/T000/B000/abcd1234efgh5678', 'abcd1234'],
  ['glagent-abcd1234efgh5678', 'abcd1234'],
  ['glsa_abcd1234efgh5678', 'abcd1234'],
  ['logged in with sha256~abcd1234efgh5678ijkl', 'abcd1234'],
  ['k8s-aws-v1.aHR0cHM6Ly9zdHMuYW1hem9uYXdz', 'aHR0cHM6'],
  [`kubeconfig-u-abcde:${'bcdfghjklm'.repeat(5)}`, 'bcdfghjklm'],
  [`"token-abcde:${'bcdfghjklm'.repeat(5)}"`, 'bcdfghjklm'],
  ['user:ghp_0123456789abcdefABCDEF0123456789abcd', 'ghp_0123'],
  ['AGE-SECRET-KEY-1ABCD1234EFGH5678', 'ABCD1234'],
  ['bearer: abcd1234efgh5678', 'abcd1234'],
  ['{"auths":{"registry.example.com":{"auth":"dXNlcjpwYXNzd29yZDEyMw=="}}}', 'dXNlcjpw'],
  ['.dockerconfigjson: eyJhdXRocyI6e319', 'eyJhdXRo'],
  ['VAULT secret_id=abcd-1234', 'abcd-1234'],
  ['run --password hunter2 now', 'hunter2'],
  ['-----BEGIN RSA PRIVATE KEY-----\ncut off in the middle', 'cut off'],
  [
    '[]EnvVar{EnvVar{Name:DB_USER,Value:root,ValueFrom:nil,},EnvVar{Name:DB_URL,Value:x y,z hunter2,ValueFrom:nil,},}',
    'hunter2',
  ],
  [
    '&Container{Name:app,Image:app:1,Command:[app -p hunter2],Args:[],Env:[]EnvVar{EnvVar{Name:A,Value:cut off',
    'hunter2',
  ],
];

/** What a reader of a bundle needs. */
const KEPT: readonly string[] = [
  'commit 5d1c1f0a5d1c1f0a5d1c1f0a5d1c1f0a5d1c1f0a by Ada (https://git.example.com/platform/config.git main)',
  'general-2gmf6b4k8c was taken back: CrashLoop: the kubelet ended 3 times',
  '{"level":"warn","sha256":"8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4","msg":"pass broken off"}',
  'GIT_CREDENTIALS_DIR=/var/run/secrets/kubelet-gitops/git',
  '"secretName": "kubelet-gitops-git"',
  '"tlsPrivateKeyFile": "/var/lib/kubelet/pki/kubelet.key"',
  '"authorization": {"mode": "Webhook"}',
  'the token is missing, expired or wrong',
  'auth: denied by the webhook, sig: none, bearer: missing',
  'taint key=node-role.kubernetes.io/control-plane:NoSchedule on token-holder-1:10250 at 12:30:45',
  'image registry.example.com:5000/team/app:1.0@sha256:8f434346',
  'see https://registry.example.com:8443/team@v2/app',
];

describe('what goes into a support bundle', () => {
  for (const [text, secret] of SECRETS) {
    it(`has nothing of: ${text.split('\n')[0]}`, () => {
      assert.ok(text.includes(secret));
      assert.ok(!redact(text).includes(secret), redact(text));
      assert.ok(!JSON.stringify(redactValue({ message: [text] })).includes(secret));
    });
  }

  it('keeps what a reader needs', () => {
    for (const text of KEPT) assert.equal(redact(text), text);
  });

  it('has no value under a name that means a secret, also in JSON in a string', () => {
    const payload = JSON.stringify({ staticPodURLHeader: { 'X-Auth': ['open sesame'] }, maxPods: 110 });
    const redacted = JSON.stringify(
      redactValue({ dbPassword: 'a b', DB_PASS: 'c', accessToken: 'c', kubelet: payload, port: 1 }),
    );
    assert.doesNotMatch(redacted, /sesame|a b|"c"/);
    assert.match(redacted, /maxPods[\\": ]+110/);
  });

  it('is the same when it is taken out twice', () => {
    for (const [text] of SECRETS) assert.equal(redact(redact(text)), redact(text));
  });
});
