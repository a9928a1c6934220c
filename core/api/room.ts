import type { FastifyRequest } from 'fastify'
import type { Log } from '../author/context.ts'
import { plainAddress } from '../base/same-client.ts'
import type { Refusals } from '../client/api-refusals.ts'
import { linkFor, type MasterLink } from '../client/master-link.ts'
import type { MasterConfig } from '../config/index.ts'
import type { ServerCertificate } from './live/certificate.ts'
import type { ApiSettings } from './settings.ts'

/** What routes work with. */
export interface ApiRoom {
  readonly config: MasterConfig
  readonly settings: ApiSettings
  readonly log: Log
  /** For TLS; plain HTTP without. */
  readonly certificate?: ServerCertificate | undefined
  /** Shared by all requests. */
  readonly link: MasterLink
  /** Take down what is refused here. */
  readonly refusals: Pick<Refusals, 'note'>
  /** Aborted when the server stops: whoever waits is answered. */
  readonly stopping: AbortSignal
}

/** The same for one request: the master is told at what address its client is. */
export const roomFor = (room: ApiRoom, { ip }: FastifyRequest): ApiRoom => ({
  ...room,
  link: linkFor(room.link, plainAddress(ip)),
})
