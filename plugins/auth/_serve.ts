/** The main loop of helper processes. */
import type { HelperAnswer } from './_helpers.ts'

/** Answer requests until the parent disconnects. The messages of errors that `answer` throws must not contain secrets. */
export function serve<Q, A>(title: string, answer: (request: Q) => A | Promise<A>): void {
  const reply = (message: HelperAnswer<A>) => process.connected && process.send?.(message)
  process.title = title
  process.on('message', async (request) => {
    try {
      reply({ answer: await answer(request as Q) })
    } catch (error) {
      reply({ failure: (error as Error).message })
    }
  })
  process.on('disconnect', () => process.exit(0))
  // Ctrl-C reaches all processes of a terminal; the parent ends this one.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {})
}
