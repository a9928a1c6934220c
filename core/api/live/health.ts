import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import type { MasterLink } from '../../client/master-link.ts'
import { MASTER_AWAY } from '../problems.ts'
import type { ApiRoom } from '../room.ts'

const ASK_MS = 2000
/** The question may have to wait for its turn behind others. Milliseconds. */
const PATIENCE_MS = 3000
const BUSY = 'The master does not keep up with the requests of this server.'
/** So long the master is believed to be as it was. Milliseconds. */
const BELIEVED_MS = 1000

/** `/livez`: this process answers. `/readyz`: it can serve, or why not. */
export function health(app: FastifyInstance, { link, log, stopping }: ApiRoom): void {
  const master = new MasterHealth({ link, log })
  const config = { health: true, open: true, query: 'any' } as const
  app.get('/livez', { config }, async () => ({ live: true }))
  app.get('/readyz', { config }, async (_request, reply) => {
    const reasons = stopping.aborted ? ['The server is stopping.'] : await master.problems()
    if (reasons.length > 0) reply.code(503)
    return { ready: reasons.length === 0, reasons }
  })
}

/** Asked at most once at a time, however often somebody wants to know. */
class MasterHealth {
  readonly #link: MasterLink
  readonly #log: Log
  #asked: { readonly problems: Promise<string[]>; until: number } | undefined

  constructor({ link, log }: Pick<ApiRoom, 'link' | 'log'>) {
    this.#link = link
    this.#log = log
  }

  problems(): Promise<string[]> {
    if (!this.#asked || performance.now() > this.#asked.until) this.#asked = this.#ask()
    return this.#asked.problems
  }

  #ask() {
    const asked = { problems: this.#ping(), until: Number.POSITIVE_INFINITY }
    void asked.problems.then(() => {
      asked.until = performance.now() + BELIEVED_MS
    })
    return asked
  }

  async #ping(): Promise<string[]> {
    const answer = this.#link.ask({ cmd: 'ping' }, ASK_MS).then(
      () => [],
      (error) => {
        this.#log.warn(`The master does not answer: ${messageOf(error)}`)
        return [MASTER_AWAY]
      },
    )
    return Promise.race([answer, delay(PATIENCE_MS, [BUSY], { ref: false })])
  }
}
