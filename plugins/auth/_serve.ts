/** What a helper process does, seen from inside. */
import type { HelperAnswer } from './_helpers.ts'

/** Answers what it is asked, until nobody is there who asks. What `answer` throws has to be a sentence without a secret. */
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
  // Ctrl-C reaches all processes of a terminal; who started this one ends it.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {})
}
