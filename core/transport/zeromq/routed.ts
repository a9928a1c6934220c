/** A request as a ROUTER receives it. */
export interface Routed {
  /** The frames from the identity of the peer to the empty delimiter. They must precede the reply. */
  readonly path: readonly Buffer[]
  readonly payload: Buffer
}

/**
 * Parse the frames (identity, …, empty, payload, …) of a request (wire protocol §4); undefined if there is no payload.
 */
export function readRouted(frames: readonly Buffer[]): Routed | undefined {
  const delimiter = frames.findIndex((frame, index) => index > 0 && frame.length === 0)
  const payload = frames[delimiter + 1]
  if (delimiter < 0 || !payload) return undefined
  return { path: frames.slice(0, delimiter + 1), payload }
}
