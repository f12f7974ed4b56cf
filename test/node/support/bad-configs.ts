/** An address for documentation (RFC 5737), which no machine has. */
const NOBODYS_ADDRESS = '203.0.113.7';

/** A kubelet 1.20 that cannot listen on its secure port ends with status 1, a second or two after its start. */
export const CRASHES = { address: NOBODYS_ADDRESS } as const;

/** A kubelet that cannot listen on its health port complains, and goes on: it runs and is never healthy. */
export const HANGS = { healthzBindAddress: NOBODYS_ADDRESS } as const;
