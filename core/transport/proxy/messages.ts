/**
 * Messages between the proxy and its workers. A message has a header frame (a letter, for requests and answers with a
 * number), and for requests and answers a payload frame.
 */
export type ProxyHeader =
  | { readonly kind: 'request' | 'answer'; readonly id: number }
  | { readonly kind: 'probe' | 'ready' | 'leaving' | 'unknown' }

export const PROBE = 'P'
/**
 * Sent by a worker: it accepts requests from now on. The payload distinguishes a new process from the previous one of that
 * name.
 */
export const READY = 'R'
/** Sent by a worker: it accepts no more requests. Sent by the proxy: it forwards no more. */
export const LEAVING = 'L'

export const requestHeader = (id: number): string => `Q${id}`
export const answerHeader = (id: number): string => `A${id}`

export function readHeader(frame: Buffer | undefined): ProxyHeader {
  const text = frame?.toString('latin1') ?? ''
  if (text[0] === 'Q') return { kind: 'request', id: Number(text.slice(1)) }
  if (text[0] === 'A') return { kind: 'answer', id: Number(text.slice(1)) }
  if (text === PROBE) return { kind: 'probe' }
  if (text === READY) return { kind: 'ready' }
  if (text === LEAVING) return { kind: 'leaving' }
  return { kind: 'unknown' }
}
