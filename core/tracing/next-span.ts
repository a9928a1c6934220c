export interface SpanIds {
  readonly traceId: string
  readonly spanId: string
}

/** The SDK may load another copy of this file than the program, so the ids are handed over by a global symbol. */
const NEXT = Symbol.for('salt-ts.next-span')
const handover = globalThis as { [NEXT]?: SpanIds | undefined }

/** Return the ids of the span that is being started; undefined for spans of others. */
export const nextSpan = (): SpanIds | undefined => handover[NEXT]

/** Run `start`, in which each new span gets these ids if the SDK uses `JobIdGenerator`. */
export function withIds<T>(ids: SpanIds, start: () => T): T {
  handover[NEXT] = ids
  try {
    return start()
  } finally {
    handover[NEXT] = undefined
  }
}
