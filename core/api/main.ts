import { setTimeout } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { backoff } from '../base/backoff.ts'
import { deferred } from '../base/deferred.ts'
import { Disposer } from '../base/disposer.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { endsWithin } from '../base/with-timeout.ts'
import { linkLocal, type MasterLink } from '../client/local/master-link.ts'
import { localRefusalLog, type RefusalLog } from '../client/remote/refusal-log.ts'
import { remoteMasterOf } from '../client/remote/remote-master.ts'
import type { DaemonEnvironment } from '../config/daemon-environment.ts'
import type { MasterConfig } from '../config/index.ts'
import { apiReloads, applyReload, logOptions } from '../config/reload.ts'
import { onHangup } from '../process/hangup.ts'
import { stopRequested } from '../process/stop-signals.ts'
import { addressInUse, findPortHolder } from '../transport/port-holder.ts'
import { createApp } from './app.ts'
import { ServerCertificate } from './live/certificate.ts'
import { type ApiSettings, readSettings } from './settings.ts'

/** Delays between attempts to reach a master that does not run yet. */
const RETRY = { minMs: 100, maxMs: 5_000 }

/**
 * Length of the accept queue, as far as net.core.somaxconn allows. If the queue is full, the kernel drops connections
 * and their clients retry seconds later.
 */
const LISTEN_BACKLOG = 4096

/** How long a starting server waits for its master before `-d` reports that it has started. */
const START_WAIT_MS = 5_000

/**
 * Run salt-api until SIGTERM or SIGINT, and return its exit code. It has started when it listens, or waits for its
 * master.
 */
export async function runApi(
  config: MasterConfig,
  { log, started, load }: DaemonEnvironment<MasterConfig>,
): Promise<number> {
  const asked = stopRequested()
  const stopping = new AbortController()
  void asked.then(() => stopping.abort(new SaltError('CANCELLED', 'salt-api is stopping.')))
  const api: RunningApi = { config, server: undefined }
  const lost = deferred<never>()
  const closeReloads = onHangup(() =>
    reloadApi(api, { log, load, stopping: stopping.signal }).catch(lost.reject),
  )
  const opening = openApi(config, log, stopping.signal)
  await endsWithin(opening, START_WAIT_MS)
  started()
  api.server = await opening
  await Promise.race([asked, lost.promise])
  closeReloads()
  log.info('salt-api is stopping')
  await api.server?.close()
  return 0
}

interface RunningApi {
  config: MasterConfig
  server: ApiServer | undefined
}

type ReloadTools = Pick<DaemonEnvironment<MasterConfig>, 'log' | 'load'> & { readonly stopping: AbortSignal }

/**
 * Read the configuration again (SIGHUP). If options of the API have changed, open the server again; what can be wrong with them is checked
 * before. Rejects if then neither the new nor the old configuration can be served.
 */
async function reloadApi(api: RunningApi, { log, load, stopping }: ReloadTools): Promise<void> {
  const checked = async () => {
    const loaded = await load()
    readSettings(loaded.config)
    return loaded
  }
  const before = api.config
  log.reload(before)
  const taken = await applyReload(before, reloadable, { load: checked, log })
  api.config = taken?.config ?? before
  log.reload(api.config)
  await api.server?.reload()
  if (!api.server || ![...(taken?.changed ?? [])].some((name) => apiReloads.has(name))) return
  const keepOld = (error: unknown) => {
    log.error(`The new configuration cannot be used, the old one stays in force: ${messageOf(error)}`)
    api.config = before
    return undefined
  }
  const prepared = await prepareApi(api.config, log).catch(keepOld)
  if (!prepared) return
  await api.server.close()
  api.server = await serve(prepared, log, stopping).catch((error: unknown) => {
    keepOld(error)
    return openApi(before, log, stopping)
  })
}

const reloadable = new Set([...logOptions, ...apiReloads])

export interface ApiServer {
  readonly port: number
  /** Reload the certificate. */
  reload(): Promise<void>
  close(): Promise<void>
}

/** Open the server. Resolves when it listens, or with undefined if it was stopped before the master was up. */
export async function openApi(
  config: MasterConfig,
  log: Log,
  stopping: AbortSignal,
): Promise<ApiServer | undefined> {
  return serve(await prepareApi(config, log), log, stopping)
}

interface PreparedApi {
  readonly config: MasterConfig
  readonly settings: ApiSettings
  readonly certificate: ServerCertificate | undefined
}

/** Read the settings and load the certificate. Rejects with CONFIG_INVALID. */
async function prepareApi(config: MasterConfig, log: Log): Promise<PreparedApi> {
  const { settings, warnings } = readSettings(config)
  for (const warning of warnings) log.warn(warning)
  return { config, settings, certificate: await ServerCertificate.open(settings, config, log) }
}

async function serve(
  { config, settings, certificate }: PreparedApi,
  log: Log,
  stopping: AbortSignal,
): Promise<ApiServer | undefined> {
  const disposer = new Disposer()
  if (certificate) disposer.own(certificate)
  try {
    const master = await openLink(config, settings, log, stopping)
    if (!master) return undefined
    disposer.own(master)
    const { link, refusals } = master
    const app = disposer.own(
      await createApp({ config, settings, log, certificate, link, refusals, stopping }),
    )
    await app.listen({ host: settings.host, port: settings.port, backlog: LISTEN_BACKLOG })
    const { port } = app.server.address() as { port: number }
    log.info(`salt-api is ready at ${certificate ? 'https' : 'http'}://${settings.host}:${port}`)
    return { port, reload: async () => certificate?.reload(), close: () => disposer.close() }
  } catch (error) {
    await disposer.close()
    throw await listenProblem(error, settings)
  }
}

async function listenProblem(error: unknown, { host, port }: ApiSettings): Promise<unknown> {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EADDRINUSE' ? addressInUse(host, port, await findPortHolder(port), "'api:port'") : error
}

/** The link to the master, and the reporter of refusals. */
interface Master extends Pick<RefusalLog, 'close'> {
  readonly link: MasterLink
  readonly refusals: Pick<RefusalLog, 'note'>
}

async function openLink(
  config: MasterConfig,
  settings: ApiSettings,
  log: Log,
  stopping: AbortSignal,
): Promise<Master | undefined> {
  const remote = remoteMasterOf(settings, config)
  if (!remote) return openHere(config, log, stopping)
  const { linkRemote } = await import('../client/remote/link-remote.ts')
  const link = await linkRemote(remote, { log, signal: stopping }).catch((error: unknown) => {
    if (stopping.aborted) return undefined
    throw error
  })
  return link && { link, refusals: link.refusals, close: link.close }
}

async function openHere(config: MasterConfig, log: Log, stopping: AbortSignal): Promise<Master | undefined> {
  const link = await linkWhenUp(config, log, stopping)
  if (!link) return undefined
  const refusals = localRefusalLog(config, log)
  const close = async () => void (await Promise.all([refusals.close(), link.close()]))
  return { link, refusals, close }
}

/** Connect to the master, and retry until it is up: services start in any order. */
async function linkWhenUp(
  config: MasterConfig,
  log: Log,
  stopping: AbortSignal,
): Promise<MasterLink | undefined> {
  const delays = backoff(RETRY)
  for (let warned = false; !stopping.aborted; warned = true) {
    try {
      return await linkLocal(config, { failFast: true, log })
    } catch (error) {
      if (!SaltError.is(error) || error.code !== 'MASTER_UNREACHABLE') throw error
      if (!warned) log.warn(`salt-api waits for the master. ${error.message}`)
      await setTimeout(delays.next(), undefined, { signal: stopping }).catch(() => undefined)
    }
  }
  return undefined
}
