/** Users of a file: text as Salt's, or what `htpasswd` and `htdigest` of Apache write. */
import { type AuthFacts, auth } from 'salt-ts'
import { nameAndPassword } from './_credentials.ts'
import type { HashRequest } from './_hash-process.ts'
import { helpers } from './_helpers.ts'
import { missingLibrary } from './_library.ts'
import { type FileSettings, fileSettings, type PasswordFile, passwordFileReader } from './_password-file.ts'
import { isHtdigestOf, isShaOf, isTextOf, type SlowKind, slowKind } from './_password-hashes.ts'
import { sameText } from './_same-text.ts'
import { problemsOf } from './_settings.ts'

const processes = helpers<HashRequest, boolean>('_hash-process')
const LIBRARIES: Readonly<Partial<Record<SlowKind, string>>> = {
  bcrypt: 'bcryptjs',
  'sha-crypt': 'unixcrypt',
}

/** By the settings they were opened with. */
const readers = new Map<string, () => Promise<PasswordFile>>()

function fileOf(settings: FileSettings): Promise<PasswordFile> {
  const key = JSON.stringify(settings)
  const read = readers.get(key) ?? passwordFileReader(settings)
  readers.set(key, read)
  return read()
}

interface Guess {
  readonly username: string
  readonly password: string
  readonly stored: string
}

async function isRight(guess: Guess, settings: FileSettings, signal: AbortSignal): Promise<boolean> {
  const { username, password, stored } = guess
  if (settings.filetype === 'text') return isTextOf(password, settings.hashtype, stored)
  if (settings.filetype === 'htdigest') return isHtdigestOf(username, settings.realm, password, stored)
  if (stored.startsWith('{SHA}')) return isShaOf(password, stored)
  const kind = slowKind(stored)
  const { filename, plaintext, seconds } = settings
  if (kind) return processes.ask({ kind, password, stored }, { place: filename, seconds, signal })
  return plaintext && sameText(password, stored)
}

/** Entries nobody can sign in with, as of `htpasswd -d`, and libraries that are missing for others. */
function problemsIn({ users }: PasswordFile, { filename, filetype, plaintext }: FileSettings): string[] {
  if (filetype !== 'htpasswd') return []
  const entries = [...users].map(([user, stored]) => ({ user, stored, kind: slowKind(stored) }))
  const names = new Set(entries.flatMap(({ kind }) => (kind && LIBRARIES[kind]) ?? []))
  const unknown = entries.filter(({ kind, stored }) => !kind && !stored.startsWith('{SHA}') && !plaintext)
  return [
    ...[...names].flatMap((name) => missingLibrary('file', name)),
    ...(unknown.length === 0
      ? []
      : [
          `The file of users ${filename} has ${unknown.length} passwords of a kind that is not taken, the first that of ${unknown[0]?.user}. Set them anew with: htpasswd -B ${filename} USER`,
        ]),
  ]
}

export default auth({
  async authenticate(credentials, { settings: given, signal }: AuthFacts) {
    const said = nameAndPassword(credentials)
    if ('refused' in said) return said
    const settings = fileSettings(given)
    const { users, dearest } = await fileOf(settings)
    const stored = users.get(said.username)
    // Who is not there takes as long.
    const right = await isRight({ ...said, stored: stored ?? dearest }, settings, signal)
    if (stored === undefined) return { refused: 'the file has no such user' }
    return right ? { name: said.username } : { refused: 'the password is another one' }
  },
  async check({ settings: given, log }) {
    let inside: readonly string[] = []
    const problems = await problemsOf(async () => {
      const settings = fileSettings(given)
      inside = problemsIn(await fileOf(settings), settings)
      if (settings.filetype === 'text' && settings.hashtype === 'plaintext')
        log.warn(`The file of users ${settings.filename} has passwords that everybody who reads it can use.`)
    })
    return [...problems, ...inside]
  },
  async close() {
    readers.clear()
    await processes.close()
  },
})
