/**
 * What the device and its workers say to each other; nobody else hears it. A message is a header frame, one letter
 * and perhaps the number of a request, and for requests and answers a payload frame.
 */
export type Header =
  | { readonly kind: 'request' | 'answer'; readonly id: number }
  | { readonly kind: 'probe' | 'ready' | 'leaving' | 'unknown' }

export const PROBE = 'P'
/** Of a worker: it takes requests from now on. The payload tells a new process from the old one of that name. */
export const READY = 'R'
/** Of a worker: it takes no more; of the device: it will send no more. */
export const LEAVING = 'L'

export const requestHeader = (id: number): string => `Q${id}`
export const answerHeader = (id: number): string => `A${id}`

export function readHeader(frame: Buffer | undefined): Header {
  const text = frame?.toString('latin1') ?? ''
  if (text[0] === 'Q') return { kind: 'request', id: Number(text.slice(1)) }
  if (text[0] === 'A') return { kind: 'answer', id: Number(text.slice(1)) }
  if (text === PROBE) return { kind: 'probe' }
  if (text === READY) return { kind: 'ready' }
  if (text === LEAVING) return { kind: 'leaving' }
  return { kind: 'unknown' }
}
