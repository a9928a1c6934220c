/** Connections that are opened on demand, and again after they are lost. */

export interface OnNeed<T> {
  get(): Promise<T>
  /** Close the open connection. A later `get` opens another. */
  close(): Promise<void>
}

/** `open` receives a function to call when the connection is lost. If `open` rejects, the next `get` tries again. */
export function openOnDemand<T>(
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
