/**
 * salt-api as a child process of salt-master. The master forks it by this path and sends it the configuration and the
 * request to stop.
 */
import { messageOf, SaltError } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { type DaemonLog, openDaemonLog } from '../log/index.ts'
import type { FromChild, ToChild } from '../master/supervision/messages.ts'
import { connectParent, ignoreSignals } from '../process/parent.ts'
import { type ApiServer, openApi } from './main.ts'

const stopping = new AbortController()
let server: ApiServer | undefined
let log: DaemonLog | undefined

async function serve({ config }: Extract<ToChild, { type: 'serve' }>): Promise<void> {
  process.title = 'salt-master salt-api'
  const own = openDaemonLog('salt-api', withOwnFile(config))
  log = own
  process.on('unhandledRejection', (error) => own.error(`Unhandled promise rejection: ${messageOf(error)}`))
  try {
    server = await openApi(config, own, stopping.signal)
    await supervisor.send({ type: 'ready' })
  } catch (error) {
    const code = SaltError.is(error) ? error.code : undefined
    await supervisor.send({ type: 'failed', message: messageOf(error), code })
    process.exit(1)
  }
}

const withOwnFile = (config: MasterConfig) => ({ ...config, log_file: config.api_logfile })

async function stop(): Promise<void> {
  stopping.abort(new SaltError('CANCELLED', 'salt-api is stopping.'))
  await server?.close()
  process.exit(0)
}

function take(message: ToChild): void {
  if (message.type === 'serve') void serve(message)
  else if (message.type === 'reload') {
    log?.reload(withOwnFile(message.config))
    void server?.reload()
  } else if (message.type === 'stop') void stop()
}

ignoreSignals()
// Exit with the supervisor, to free the port for the next salt-api.
const supervisor = connectParent<ToChild, FromChild>({ onMessage: take, onGone: () => process.exit(1) })
