/** The probation of a pool whose nodes hold their places until they have promoted the config and soaked. */
export const FULL_PROBATION = 'full';

/**
 * With the restart before it, a node holds its place for about a minute: a hundred nodes that go one at a time are through in less
 * than two hours.
 */
export const DEFAULT_PROBATION = '50s';

/** Milliseconds for which a kubelet has to be healthy after it went back to what needs no trial. */
export const STEADY_MS = 10_000;

/** Where `maxUnavailable` is more, that. */
export const DEFAULT_MAX_ON_TRIAL = '20%';

/** So many times the probation is the trial of a node that begins after the canaries. */
export const TRIAL_IN_PROBATIONS = 3;
