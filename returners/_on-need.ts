/** Connections that are opened when they are needed, and again when they were lost. */

export interface OnNeed<T> {
  get(): Promise<T>
  /** Closes what is open. What then calls `get` opens another. */
  close(): Promise<void>
}

/** `open` is told what to call when the connection is of no more use. If it rejects, the next `get` tries again. */
export function onNeed<T>(
  open: (lost: () => void) => Promise<T>,
  close: (connection: T) => Promise<unknown>,
): OnNeed<T> {
  let current: Promise<T> | undefined
  const get = (): Promise<T> => {
    if (current) return current
    const lost = () => {
      if (current === opening) current = undefined
    }
    const opening = open(lost)
    current = opening
    opening.catch(lost)
    return opening
  }
  return {
    get,
    close: async () => {
      const closing = current
      current = undefined
      const connection = await closing?.catch(() => undefined)
      if (connection !== undefined) await close(connection)
    },
  }
}
