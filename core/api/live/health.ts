import type { FastifyInstance } from 'fastify'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import type { MasterLink } from '../../client/local/master-link.ts'
import type { ApiContext } from '../context.ts'
import { MASTER_NOT_ANSWERING } from '../http-errors.ts'

const PING_TIMEOUT_MS = 2000
/** How long to wait for an answer, including the time the request is queued behind others. */
const ANSWER_TIMEOUT_MS = 3000
const BUSY = 'The master does not keep up with the requests of this server.'
/** How long an answer is reused. */
const CACHE_MS = 1000

/**
 * Add `/livez`, which this process always answers, and `/readyz`, which says whether it can serve requests, or why
 * not.
 */
export function health(app: FastifyInstance, { link, log, stopping }: ApiContext): void {
  const master = new MasterHealth({ link, log })
  const config = { health: true, open: true, query: 'any' } as const
  app.get('/livez', { config }, async () => ({ live: true }))
  app.get('/readyz', { config }, async (_request, reply) => {
    const reasons = stopping.aborted ? ['The server is stopping.'] : await master.problems()
    if (reasons.length > 0) reply.code(503)
    return { ready: reasons.length === 0, reasons }
  })
}

/** Pings the master, at most one ping at a time however many requests ask. */
class MasterHealth {
  readonly #link: MasterLink
  readonly #log: Log
  #asked: { readonly problems: Promise<string[]>; until: number } | undefined

  constructor({ link, log }: Pick<ApiContext, 'link' | 'log'>) {
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
      asked.until = performance.now() + CACHE_MS
    })
    return asked
  }

  async #ping(): Promise<string[]> {
    const answer = this.#link.ask({ cmd: 'ping' }, PING_TIMEOUT_MS).then(
      () => [],
      (error) => {
        this.#log.warn(`The master does not answer: ${messageOf(error)}`)
        return [MASTER_NOT_ANSWERING]
      },
    )
    return (await endsWithin(answer, ANSWER_TIMEOUT_MS)) ? answer : [BUSY]
  }
}
