import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import type { MinionConfig } from '../../config/index.ts'
import { ownAddressTowards } from '../../transport/own-address.ts'
import { makeStartReport, newStartToken, readStartAnswer, type StartAnswer } from '../../wire/minion-start.ts'

interface StartReportSettings {
  readonly config: MinionConfig
  readonly id: string
  readonly address: { readonly host: string; readonly port: number }
  /** Identifies this run of the minion. The same for all its masters. */
  readonly startToken?: string
  readonly isSyndic?: boolean
  readonly log: Log
  /** Send a request to the master, encrypted. */
  request(load: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** Reports this run of the minion to its master, and keeps the answer. */
export class StartReport {
  readonly #settings: StartReportSettings
  readonly token: string
  /** The answer to the latest report. */
  answer: StartAnswer = {}

  constructor(settings: StartReportSettings) {
    this.#settings = settings
    this.token = settings.startToken ?? newStartToken()
  }

  async send(): Promise<void> {
    const { config, id, address, isSyndic, request } = this.#settings
    const towards = address.host && (await ownAddressTowards(address.host, address.port))
    const source = config.source_address || towards || 'unknown'
    const start = {
      token: this.token,
      address: source,
      host: hostname(),
      pid: process.pid,
      ...(isSyndic && { syndic: true }),
    }
    this.answer = readStartAnswer(await request(makeStartReport(id, start)))
  }

  /**
   * Report this run. Resolves with true, after a wait, if the master refuses it because another minion has the same id, and when
   * `signal` aborts.
   */
  async isRefused(signal: AbortSignal): Promise<boolean> {
    const { config, log } = this.#settings
    try {
      await this.send()
      const { refused } = this.answer
      if (refused === undefined) return false
      const seconds = config.acceptance_wait_time
      log.error(`${refused} Asking again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`)
      await delay(seconds * 1000, undefined, { signal })
      return true
    } catch (error) {
      if (!signal.aborted)
        log.debug(`The start of this minion was not reported to the master: ${messageOf(error)}`)
      return signal.aborted
    }
  }

  /**
   * Whether the master gives missed jobs that this minion may run. If it requires signatures, only a master that signs does. In
   * generation 2 every minion has the key that answers are encrypted with, and could forge jobs.
   */
  get offersMissedJobs(): boolean {
    const { missedJobs: offer } = this.answer
    const { sign_pub_messages: requiresSignature, minimum_auth_version: generation } = this.#settings.config
    return generation >= 3 && (offer === 'signed' || (offer === 'unsigned' && !requiresSignature))
  }
}
