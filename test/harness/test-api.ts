/** The routes of salt-api in this process, for `inject`, with a master that the test plays. */
import { mkdir } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { createApp } from '../../core/api/app.ts'
import { type ApiSettings, readSettings } from '../../core/api/settings.ts'
import type { Log } from '../../core/author/context.ts'
import type { MasterLink } from '../../core/client/local/master-link.ts'
import { localRecords } from '../../core/client/local/master-records.ts'
import { loadMasterConfig, type MasterConfig, type MasterOptions } from '../../core/config/index.ts'
import { EventBus, EventPublisher, masterEventSockets, type Subscription } from '../../core/events/index.ts'
import type { ApiRefusal } from '../../core/wire/api-refusal.ts'
import type { Via } from '../../core/wire/via.ts'
import { API_CLIENTS } from './api-clients.ts'
import { removeFolder, temporaryFolder } from './folder.ts'
import { quietLog } from './log.ts'

type Load = Readonly<Record<string, unknown>>

export interface TestApi {
  readonly app: FastifyInstance
  readonly config: MasterConfig
  /** What the master was asked, in order. */
  readonly asked: Load[]
  /** For whom, as it was told. */
  readonly vias: (Via | undefined)[]
  /** What the server has refused by itself. */
  readonly refused: ApiRefusal[]
  /** What the master answers: by default nothing that makes sense. */
  answer: (load: Load) => unknown
  readonly events: EventBus
  /** Fire an event that nobody need hear any more. */
  fire(tag: string, data: object): void
  /** How many read events on behalf of requests. */
  waits(): number
  /** As when the server is told to stop. */
  stop(): void
  close(): Promise<void>
}

export async function openTestApi(
  options: Partial<MasterOptions> = {},
  settings: Partial<ApiSettings> = {},
  log: Log = quietLog,
): Promise<TestApi> {
  const folder = await temporaryFolder('salt-ts-api-')
  const overrides = {
    root_dir: folder,
    sock_dir: '/run',
    interface: '127.0.0.1',
    netapi_enable_clients: API_CLIENTS,
    ...options,
  }
  const { config } = loadMasterConfig({ configDir: folder, overrides })
  await mkdir(config.sock_dir, { recursive: true })
  const publisher = await EventPublisher.open({ ...masterEventSockets(config), maxEventSize: 1_048_576 })
  const events = await EventBus.connect(masterEventSockets(config))
  const stopping = new AbortController()
  const open = new Set<Subscription>()
  const subscribe: EventBus['subscribe'] = (...args) => {
    const subscription = events.subscribe(...args)
    const close = subscription.close.bind(subscription)
    open.add(subscription)
    return Object.assign(subscription, {
      close() {
        open.delete(subscription)
        close()
      },
    })
  }
  const link: MasterLink = {
    events: { subscribe, fire: (tag, data) => events.fire(tag, data) },
    records: localRecords(config),
    async ask(load, _, via) {
      api.asked.push(load)
      api.vias.push(via)
      return api.answer(load)
    },
    close: async () => {},
  }
  // Never written: no answer waits for that.
  const note = (refusal: ApiRefusal) => {
    api.refused.push(refusal)
    return new Promise<void>(() => {})
  }
  const context = {
    refusals: { note },
    config,
    link,
    log,
    stopping: stopping.signal,
    settings: { ...readSettings(config).settings, ...settings },
  }
  const app = await createApp(context)
  const always = open.size
  const api: TestApi = {
    app,
    config,
    events,
    asked: [],
    vias: [],
    refused: [],
    answer: () => null,
    fire: (tag, data) => void events.fire(tag, data).catch(() => undefined),
    waits: () => open.size - always,
    stop: () => stopping.abort(),
    async close() {
      await api.app.close()
      await events.close()
      await publisher.close()
      await removeFolder(folder)
    },
  }
  return api
}
