/**
 * Call `act` at each SIGHUP. Calls do not overlap; signals that arrive during one cause a single further call. `act` must not
 * reject. Returns a function after whose call the signal is ignored.
 */
export function onHangup(act: () => Promise<void>): () => void {
  let isPending = false
  let isActing = false
  let isClosed = false
  process.on('SIGHUP', async () => {
    isPending = true
    if (isActing) return
    isActing = true
    try {
      while (isPending && !isClosed) {
        isPending = false
        await act()
      }
    } finally {
      isActing = false
    }
  })
  return () => {
    isClosed = true
  }
}
