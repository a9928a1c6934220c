/** salt-api as a child of salt-master, which starts it by this path: it is told its configuration, and when to end. */
import { messageOf, SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { type DaemonLog, openDaemonLog } from '../log/index.ts'
import type { FromChild, ToChild } from '../master/messages.ts'
import { type ApiServer, openApi } from './main.ts'

const stopping = new AbortController()
let server: ApiServer | undefined
let log: DaemonLog | undefined

const tell = (message: FromChild, then = () => {}): void => void process.send?.(message, then)

async function serve({ config }: Extract<ToChild, { type: 'serve' }>): Promise<void> {
  process.title = 'salt-master salt-api'
  const own = openDaemonLog('salt-api', withOwnFile(config))
  log = own
  process.on('unhandledRejection', (error) => own.error(`A promise was rejected unseen: ${messageOf(error)}`))
  try {
    server = await openApi(config, own, stopping.signal)
    tell({ type: 'ready' })
  } catch (error) {
    tell(
      { type: 'failed', message: messageOf(error), ...(SaltError.is(error) && { code: error.code }) },
      () => process.exit(1),
    )
  }
}

const withOwnFile = (config: MasterConfig) => ({ ...config, log_file: config.api_logfile })

async function stop(): Promise<void> {
  stopping.abort(new SaltError('CANCELLED', 'salt-api is stopping.'))
  await server?.close()
  process.exit(0)
}

process.on('message', (message: ToChild) => {
  if (message.type === 'serve') void serve(message)
  else if (message.type === 'ping') tell({ type: 'pong' })
  else if (message.type === 'reload') {
    log?.reload(withOwnFile(message.config))
    void server?.reload()
  } else if (message.type === 'stop') void stop()
})
// The supervisor decides when to stop; a Ctrl-C reaches the whole process group.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('SIGHUP', () => {})
// Without its supervisor it only stands in the way of the next one.
process.on('disconnect', () => process.exit(1))
