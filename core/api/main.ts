import { setTimeout } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { backoff } from '../base/backoff.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { onHangup } from '../base/hangup.ts'
import { stopRequested } from '../base/stop-signals.ts'
import { type Refusals, refusalsHere } from '../client/api-refusals.ts'
import { linkHere, type MasterLink } from '../client/master-link.ts'
import { remoteMasterOf } from '../client/remote-master.ts'
import type { Surroundings } from '../config/daemon.ts'
import type { MasterConfig } from '../config/index.ts'
import { apiOptions, logOptions, takeAgain } from '../config/reload.ts'
import { addressInUse, findPortHolder } from '../transport/port-holder.ts'
import { createApp } from './app.ts'
import { ServerCertificate } from './live/certificate.ts'
import { type ApiSettings, readSettings } from './settings.ts'

/** Between attempts to reach a master that is not there yet. */
const RETRY = { minMs: 100, maxMs: 5_000 }

/**
 * Connections the system queues, as far as it allows (net.core.somaxconn). Where the queue is full it drops what comes, and
 * that client tries again seconds later.
 */
const BACKLOG = 4096

/** How long a starting server waits for its master before `-d` reports it as started. Milliseconds. */
const FIRST_ANSWER_MS = 5_000

/**
 * The server. Resolves with the exit code once it is told to stop by SIGTERM or SIGINT. It counts as started when it listens, or
 * waits for its master.
 */
export async function runApi(
  config: MasterConfig,
  { log, started, load }: Surroundings<MasterConfig>,
): Promise<number> {
  const asked = stopRequested()
  const stopping = new AbortController()
  void asked.then(() => stopping.abort(new SaltError('CANCELLED', 'salt-api is stopping.')))
  let running = config
  let server: ApiServer | undefined
  const closeReloads = onHangup(async () => {
    const checked = async () => {
      const loaded = await load()
      readSettings(loaded.config)
      return loaded
    }
    const before = running
    log.reload(before)
    const taken = await takeAgain(before, apiReloads, { load: checked, log })
    running = taken?.config ?? before
    log.reload(running)
    await server?.reload()
    if (!server || ![...(taken?.changed ?? [])].some((name) => apiOptions.has(name))) return
    await server.close()
    server = await openApi(running, log, stopping.signal).catch((error: unknown) => {
      log.error(`The new configuration is not taken, the old one stays: ${messageOf(error)}`)
      running = before
      return openApi(running, log, stopping.signal)
    })
  })
  const opening = openApi(config, log, stopping.signal)
  await Promise.race([opening, setTimeout(FIRST_ANSWER_MS, undefined, { ref: false })])
  started()
  server = await opening
  await asked
  closeReloads()
  log.info('salt-api is stopping')
  await server?.close()
  return 0
}

const apiReloads = new Set([...logOptions, ...apiOptions])

export interface ApiServer {
  readonly port: number
  /** Read the certificate again. */
  reload(): Promise<void>
  close(): Promise<void>
}

/** Resolves when it listens; with undefined if it was told to stop before the master was there. */
export async function openApi(
  config: MasterConfig,
  log: Log,
  stopping: AbortSignal,
): Promise<ApiServer | undefined> {
  const { settings, warnings } = readSettings(config)
  for (const warning of warnings) log.warn(warning)
  const certificate = await ServerCertificate.open(settings, config, log)
  const master = await openLink(config, settings, log, stopping)
  if (!master) return undefined
  const { link, refusals } = master
  const app = await createApp({ config, settings, log, certificate, link, refusals, stopping })
  try {
    await app.listen({ host: settings.host, port: settings.port, backlog: BACKLOG })
  } catch (error) {
    await master.close()
    throw await listenProblem(error, settings)
  }
  const { port } = app.server.address() as { port: number }
  log.info(`salt-api is ready at ${certificate ? 'https' : 'http'}://${settings.host}:${port}`)
  return {
    port,
    reload: async () => certificate?.reload(),
    async close() {
      await app.close()
      await master.close()
    },
  }
}

async function listenProblem(error: unknown, { host, port }: ApiSettings): Promise<unknown> {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EADDRINUSE' ? addressInUse(host, port, await findPortHolder(port), "'api:port'") : error
}

/** How the master is reached, and told what is refused here. */
interface Master extends Pick<Refusals, 'close'> {
  readonly link: MasterLink
  readonly refusals: Pick<Refusals, 'note'>
}

async function openLink(
  config: MasterConfig,
  settings: ApiSettings,
  log: Log,
  stopping: AbortSignal,
): Promise<Master | undefined> {
  const remote = remoteMasterOf(settings, config)
  if (!remote) return openHere(config, log, stopping)
  const { linkRemote } = await import('../client/link-remote.ts')
  const link = await linkRemote(remote, { log, signal: stopping }).catch((error: unknown) => {
    if (stopping.aborted) return undefined
    throw error
  })
  return link && { link, refusals: link.refusals, close: link.close }
}

async function openHere(config: MasterConfig, log: Log, stopping: AbortSignal): Promise<Master | undefined> {
  const link = await patientLink(config, log, stopping)
  if (!link) return undefined
  const refusals = refusalsHere(config, log)
  const close = async () => void (await Promise.all([refusals.close(), link.close()]))
  return { link, refusals, close }
}

/** Services start in any order. */
async function patientLink(
  config: MasterConfig,
  log: Log,
  stopping: AbortSignal,
): Promise<MasterLink | undefined> {
  const delays = backoff(RETRY)
  for (let told = false; !stopping.aborted; told = true) {
    try {
      return await linkHere(config, { impatient: true, log })
    } catch (error) {
      if (!SaltError.is(error) || error.code !== 'MASTER_UNREACHABLE') throw error
      if (!told) log.warn(`salt-api waits for the master. ${error.message}`)
      await setTimeout(delays.next(), undefined, { signal: stopping }).catch(() => undefined)
    }
  }
  return undefined
}
