import { monotonicClock } from '../../base/clock.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { AesKeys } from '../../channel/aes-keys.ts'
import { SymmetricKey } from '../../crypto/index.ts'
import { type DaemonLog, type Logger, openDaemonLog } from '../../log/index.ts'
import { type Meter, meterFor } from '../../metrics/index.ts'
import { connectParent, ignoreSignals, type Parent } from '../../process/parent.ts'
import { jobTracer } from '../../tracing/index.ts'
import type { CallCheckReport } from '../../wire/catalogue.ts'
import type { FromLoginLimit } from './login-limits.ts'
import { collectGarbageAfterWork } from './memory.ts'
import type { FromChild, ToChild } from './messages.ts'

/** How long requests under the AES key before a rotation are still served. */
const GRACE_MS = 300_000

export interface ChildPart {
  /** Problems that affect only some users; the supervisor logs them. */
  readonly problems?: readonly string[] | undefined
  /** A new AES key is in use. With `revoke` the one before is refused from now on. */
  rotated(revoke: boolean): void
  fire(tag: string, data: Record<string, unknown>): void
  /** Called with a minion's report for a check that this worker may be waiting for. */
  onCallCheck?(id: string, report: CallCheckReport): void
  /** Called with the answer whether a password may be tried. */
  mayLogIn?(answer: FromLoginLimit): void
  /** Called when a record was put into an outbox. */
  queued?(): void
  /** Apply a changed configuration. The options of the log are applied already. */
  reload?(config: ChildStart['config']): Promise<void>
  /** Close. Pending work may take `finishMs`; without it, the default time. */
  close(finishMs?: number): Promise<void>
}

export interface ChildStart {
  readonly name: string
  readonly config: Extract<ToChild, { type: 'start' }>['config']
  readonly aesKeys: AesKeys
  readonly log: Logger
  /** Meter of this process; undefined if metrics are off. */
  readonly meter: Meter | undefined
  readonly supervisor: Parent<FromChild>
}

/** Run a child process of the master: start its part, pass on key rotations, and stop it, as the supervisor requests. */
export function runChild(open: (start: ChildStart) => Promise<ChildPart>): void {
  let part: ChildPart | undefined
  let aesKeys: AesKeys | undefined
  let meter: Meter | undefined
  let root: DaemonLog | undefined

  async function start({ name, config, aes }: Extract<ToChild, { type: 'start' }>): Promise<void> {
    process.title = `salt-master ${name}`
    const log = openDaemonLog('salt-master', config)
    root = log
    aesKeys = new AesKeys(SymmetricKey.parse(aes), GRACE_MS, monotonicClock)
    process.on('unhandledRejection', (error) => log.error(`Unhandled promise rejection: ${messageOf(error)}`))
    try {
      meter = await meterFor(config, name)
      part = await open({ name, config, aesKeys, log, meter, supervisor })
      collectGarbageAfterWork()
      void supervisor.send({ type: 'ready', problems: part.problems })
    } catch (error) {
      const code = SaltError.is(error) ? error.code : undefined
      await supervisor.send({ type: 'failed', message: messageOf(error), code })
      process.exit(1)
    }
  }

  async function sendMeasured(): Promise<void> {
    await supervisor.send({ type: 'measured', snapshot: (await meter?.snapshot()) ?? {} })
  }

  async function reload(config: ChildStart['config']): Promise<void> {
    root?.reload(config)
    await part
      ?.reload?.(config)
      .catch((error: unknown) =>
        root?.error(
          `The new configuration could not be applied, so the old one stays in use: ${messageOf(error)}`,
        ),
      )
  }

  async function stop(finishMs?: number): Promise<void> {
    await part?.close(finishMs)
    await (await jobTracer())?.flush()
    process.exit(0)
  }

  function onMessage(message: ToChild): void {
    if (message.type === 'start') void start(message)
    else if (message.type === 'fire') part?.fire(message.tag, message.data)
    else if (message.type === 'call_check') part?.onCallCheck?.(message.id, message.report)
    else if (message.type === 'may_log_in') part?.mayLogIn?.(message)
    else if (message.type === 'queued') part?.queued?.()
    else if (message.type === 'measure') void sendMeasured()
    else if (message.type === 'reload') void reload(message.config)
    else if (message.type === 'stop') void stop(message.finishMs)
    else if (message.type === 'rotate') {
      aesKeys?.rotate(SymmetricKey.parse(message.aes), message)
      part?.rotated(message.revoke)
      void supervisor.send({ type: 'rotated' })
    }
  }

  ignoreSignals()
  // Exit with the supervisor, so that the ports are free for the next master.
  const supervisor = connectParent<ToChild, FromChild>({ onMessage, onGone: () => process.exit(1) })
}
