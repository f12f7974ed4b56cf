import { type GoUrl, goUrl } from './go-url.ts';

/**
 * What a kubelet makes of the address of a runtime (`parseEndpointWithFallbackProtocol`, k8s.io/cri-client): what has no scheme is read
 * as if `unix://` stood before it. Its socket is the path, so that `unix://run/x.sock` is /x.sock, and a bare name is nothing.
 *
 * @returns undefined where Go refuses it
 */
export function runtimeEndpoint(address: string): GoUrl | undefined {
  const url = goUrl(address);
  return (url?.scheme ?? '') === '' ? goUrl(`unix://${address}`) : url;
}
