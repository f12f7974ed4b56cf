import type { SERVING_FIELDS } from '#shared/contract/kubelet-config/fields/serving.ts';
import type { MeaningsOf } from './meanings-of.ts';

export const SERVING_MEANINGS: MeaningsOf<typeof SERVING_FIELDS> = {
  enableServer: 'Runs the kubelet’s own HTTPS server, which the API server calls for logs, exec and metrics',
  address: 'IP address on which the kubelet’s server listens',
  port: 'Port of the kubelet’s server',
  readOnlyPort: 'Port of a second server without TLS or authentication; 0 switches it off',
  tlsCertFile: 'File with the server’s certificate and its chain; without it, the kubelet signs one itself',
  tlsPrivateKeyFile: 'File with the private key that belongs to tlsCertFile',
  tlsCipherSuites: 'Cipher suites that the server offers, by Go’s names; TLS 1.3 ignores the list',
  tlsMinVersion: 'Oldest TLS version that the server accepts',
  tlsCurvePreferences: 'Key exchanges that the server accepts for TLS, by the numbers that Go gives them',
  rotateCertificates: 'Renews the kubelet’s client certificate for the API server before it expires',
  serverTLSBootstrap:
    'Requests the server’s certificate from the cluster instead of signing it; each request needs an approval',
  authentication: 'How the kubelet’s server finds out who is calling',
  'authentication.anonymous': 'What happens to calls without credentials',
  'authentication.anonymous.enabled': 'Accepts calls without credentials, as the user system:anonymous',
  'authentication.webhook': 'Whether and how the API server is asked about bearer tokens',
  'authentication.webhook.cacheTTL': 'How long the API server’s answer about a token is remembered',
  'authentication.webhook.enabled': 'Asks the API server (TokenReview) whose a bearer token is',
  'authentication.x509': 'Which client certificates are accepted',
  'authentication.x509.clientCAFile': 'File with the authorities whose client certificates are accepted',
  authorization: 'How the kubelet’s server decides what a caller may do',
  'authorization.mode':
    'Webhook asks the API server about each request; AlwaysAllow lets everyone who was authenticated do everything',
  'authorization.webhook': 'How long the API server’s decisions are remembered',
  'authorization.webhook.cacheAuthorizedTTL': 'How long a permission that the API server gave is remembered',
  'authorization.webhook.cacheUnauthorizedTTL': 'How long a refusal of the API server is remembered',
  enableDebuggingHandlers: 'Serves logs, exec, attach and port-forward; kubectl logs and kubectl exec need it',
  enableContentionProfiling: 'Records where the kubelet’s threads wait for each other, for the profiling endpoint',
  enableSystemLogHandler: 'Serves the files in /var/log of the node at /logs/',
  enableSystemLogQuery: 'Lets callers search the logs of the node’s services at /logs/; needs the gate NodeLogQuery',
  enableProfilingHandler: 'Serves Go profiles of the kubelet at /debug/pprof/',
  enableDebugFlagsHandler: 'Lets callers change the kubelet’s log verbosity at /debug/flags/v',
  healthzPort: 'Port on which the kubelet answers /healthz; 0 switches it off',
  healthzBindAddress: 'IP address on which the kubelet answers /healthz',
  streamingConnectionIdleTimeout: 'How long an exec, attach or port-forward may be idle before it is closed',
  showHiddenMetricsForVersion:
    'Shows again the metrics that were hidden in this version; only the previous minor counts',
};
