/** Entry of the process of one backend of `external_auth` that is not of this package: it answers the requests of one worker. */
import { messageOf, traceOf } from '../../base/errors.ts'
import { openLoader } from '../../loader/index.ts'
import { createRelayLog } from '../../log/relay.ts'
import { connectParent, ignoreSignals } from '../../process/parent.ts'
import type { OpenBackend } from './contract.ts'
import type { BackendRequest, FromBackend, ToBackend } from './messages.ts'
import { openBackend } from './open-backend.ts'

const parent = connectParent<ToBackend, FromBackend>({ onMessage, onGone: () => process.exit(1) })
const log = createRelayLog((line) => void parent.send({ type: 'log', line }), 'AuthBackend')

let name = ''
let backend: OpenBackend

function onMessage(message: ToBackend): void {
  if (message.type === 'start') {
    const { config } = message
    name = message.name
    process.title = `salt-master backend ${name}`
    backend = openBackend(name, { config, loader: openLoader('auth', { config, log }), log })
  } else if (message.type === 'request') void answer(message.number, message.request)
  else void stop()
}

async function answer(number: number, request: BackendRequest): Promise<void> {
  try {
    await parent.send({ type: 'answer', number, answer: await ask(request) })
  } catch (error) {
    await parent.send({ type: 'failed', number, reason: messageOf(error) })
  }
}

function ask(request: BackendRequest): Promise<unknown> {
  return request.ask === 'authenticate' ? backend.authenticate(request.given) : backend[request.ask]()
}

async function stop(): Promise<void> {
  await backend.close()
  process.exit(0)
}

process.on('unhandledRejection', (error) =>
  log.error(`The backend ${name} of external_auth has left a promise rejected: ${traceOf(error)}`),
)
process.on('uncaughtException', async (error) => {
  await parent.send({ type: 'crashed', reason: `it threw an error outside a log-in: ${traceOf(error)}` })
  process.exit(1)
})
ignoreSignals()
