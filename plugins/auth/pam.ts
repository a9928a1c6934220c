/** Accounts of this host, or whatever else its PAM is configured for. */
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type AuthFacts, auth } from 'salt-ts'
import { nameAndPassword } from './_credentials.ts'
import { helpers } from './_helpers.ts'
import type { PamAnswer, PamRequest } from './_pam-library.ts'
import { problemsOf, readSettings } from './_settings.ts'

const processes = helpers<PamRequest | { readonly ready: true }, PamAnswer | undefined>('_pam-process')

/** Read the settings. Clients cannot choose the service: another one would have other rules. */
function settingsOf({ opts, settings }: Pick<AuthFacts, 'opts' | 'settings'>) {
  const given = { service: opts['auth.pam.service'], ...settings }
  return readSettings('external_auth.pam.^', given, (read) => {
    const service = read.text('service') ?? 'login'
    if (!/^[\w.-]+$/.test(service)) read.refuse('service', 'must be the name of a file in /etc/pam.d')
    return { service, anyShell: read.flag('any_shell'), seconds: read.seconds('timeout', 15) }
  })
}

const FOLDERS = ['/etc/pam.d', '/usr/lib/pam.d', '/usr/share/pam.d', '/usr/etc/pam.d']

/** Throws if the service does not exist. PAM would use its service `other` instead, which may allow more. */
function checkService(service: string): void {
  const found = existsSync('/etc/pam.d')
    ? FOLDERS.some((folder) => existsSync(`${folder}/${service}`))
    : existsSync('/etc/pam.conf')
  if (!found) throw new Error(`external_auth.pam.^service is ${service}, but /etc/pam.d has no such file.`)
}

export default auth({
  async authenticate(credentials, facts) {
    const given = nameAndPassword(credentials)
    if ('refused' in given) return given
    const { seconds, ...settings } = settingsOf(facts)
    checkService(settings.service)
    const { signal } = facts
    const answer = await processes.ask({ ...settings, ...given }, { place: 'PAM', seconds, signal })
    if (!answer) throw new Error('PAM did not answer')
    if (!('refused' in answer)) return answer
    await delay(answer.delayMs, undefined, { signal })
    return { refused: answer.refused }
  },
  async check(facts) {
    return problemsOf(async () => {
      const { service, seconds } = settingsOf(facts)
      checkService(service)
      const trial = helpers<{ readonly ready: true }, undefined>('_pam-process')
      const { signal } = new AbortController()
      await trial.ask({ ready: true }, { place: 'PAM', seconds, signal }).finally(() => trial.close())
    })
  },
  close: processes.close,
})
