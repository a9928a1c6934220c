/** Users in a file: Salt's text format, or what Apache's `htpasswd` and `htdigest` write. */
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

/** Readers by their settings, as JSON. */
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

/** Return the entries that allow no log-in, like those of `htpasswd -d`, and the libraries that other entries need but lack. */
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
          `The file of users ${filename} has ${unknown.length} passwords in a format that is not supported, first that of ${unknown[0]?.user}. Set them again with: htpasswd -B ${filename} USER`,
        ]),
  ]
}

export default auth({
  async authenticate(credentials, { settings: given, signal }: AuthFacts) {
    const said = nameAndPassword(credentials)
    if ('refused' in said) return said
    const settings = fileSettings(given)
    const { users, costliest } = await fileOf(settings)
    const stored = users.get(said.username)
    // Unknown users take as long as known ones.
    const right = await isRight({ ...said, stored: stored ?? costliest }, settings, signal)
    if (stored === undefined) return { refused: 'the file has no such user' }
    return right ? { name: said.username } : { refused: 'the password is wrong' }
  },
  async check({ settings: given, log }) {
    let inside: readonly string[] = []
    const problems = await problemsOf(async () => {
      const settings = fileSettings(given)
      inside = problemsIn(await fileOf(settings), settings)
      if (settings.filetype === 'text' && settings.hashtype === 'plaintext')
        log.warn(
          `The file of users ${settings.filename} has passwords in plain text: anybody who can read it can use them.`,
        )
    })
    return [...problems, ...inside]
  },
  async close() {
    readers.clear()
    await processes.close()
  },
})
