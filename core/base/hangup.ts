/**
 * Call `act` at each SIGHUP, one after the other; several that come meanwhile are one. It must not reject. Gives what to
 * call so that it is not called any more; from then on the signal is ignored.
 */
export function onHangup(act: () => Promise<void>): () => void {
  let asked = false
  let isActing = false
  let isClosed = false
  process.on('SIGHUP', async () => {
    asked = true
    if (isActing) return
    isActing = true
    while (asked && !isClosed) {
      asked = false
      await act()
    }
    isActing = false
  })
  return () => {
    isClosed = true
  }
}
