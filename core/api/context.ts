import type { FastifyRequest } from 'fastify'
import type { Log } from '../author/context.ts'
import { plainAddress } from '../base/net/same-client.ts'
import { linkForAddress, type MasterLink } from '../client/local/master-link.ts'
import type { RefusalLog } from '../client/remote/refusal-log.ts'
import type { MasterConfig } from '../config/index.ts'
import type { ServerCertificate } from './live/certificate.ts'
import type { ApiSettings } from './settings.ts'

/** State and services that routes share. */
export interface ApiContext {
  readonly config: MasterConfig
  readonly settings: ApiSettings
  readonly log: Log
  /** TLS certificate. Without it the server speaks plain HTTP. */
  readonly certificate?: ServerCertificate | undefined
  /** Shared by all requests. */
  readonly link: MasterLink
  /** Report what this server refuses to the audit log of the master. */
  readonly refusals: Pick<RefusalLog, 'note'>
  /** Aborted when the server stops, which answers all waiting requests. */
  readonly stopping: AbortSignal
}

/** Return the context of one request. Its link passes the address of the HTTP client on to the master. */
export const contextFor = (context: ApiContext, { ip }: FastifyRequest): ApiContext => ({
  ...context,
  link: linkForAddress(context.link, plainAddress(ip)),
})
