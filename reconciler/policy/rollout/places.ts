/** How many more nodes may begin, of a pool, of a zone of it, or of all pools; each that begins takes a place. */
export interface Places {
  /** For nodes that are available until they are changed. */
  free: number;
  /** For nodes that are not Ready, and counted as unavailable already: no more than are allowed are in change at a time either. */
  forNotReady: number;
}

type OfReadiness = { readonly ready: boolean };

export const isFull = ({ free, forNotReady }: Readonly<Places>, { ready }: OfReadiness): boolean =>
  (ready ? free : forNotReady) <= 0;

/** @param by 1 for a node that begins, -1 for one that gives its place back */
export function occupy(places: Places, { ready }: OfReadiness, by: 1 | -1 = 1): void {
  if (ready) places.free -= by;
  places.forNotReady -= by;
}
