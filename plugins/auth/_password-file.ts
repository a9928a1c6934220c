/** A file with one line for each user. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { costOf, HASH_TYPES, type HashType } from './_password-hashes.ts'
import { readSettings } from './_settings.ts'

export interface FileSettings {
  readonly filename: string
  readonly filetype: 'text' | 'htpasswd' | 'htdigest'
  readonly hashtype: HashType
  readonly separator: string
  /** Column numbers, counted from 1. */
  readonly fields: { readonly user: number; readonly password: number }
  readonly realm: string
  /** Whether htpasswd entries that are not a known hash count as plain-text passwords. */
  readonly plaintext: boolean
  readonly seconds: number
}

export interface PasswordFile {
  /** User → stored password or hash. */
  readonly users: ReadonlyMap<string, string>
  /** The entry that takes longest to compare. It is compared for unknown users, so that timing does not reveal who exists. */
  readonly costliest: string
}

export const fileSettings = (settings: Readonly<Record<string, unknown>>): FileSettings =>
  readSettings('external_auth.file.^', settings, (read) => {
    const filename = read.needed('filename')
    if (filename !== '' && !filename.startsWith('/'))
      read.refuse('filename', 'must be a path that begins with /')
    const filetype = read.oneOf('filetype', ['text', 'htpasswd', 'htdigest'], 'text')
    return {
      filename,
      filetype,
      hashtype: read.oneOf('hashtype', HASH_TYPES, 'plaintext'),
      separator: read.text('field_separator') ?? ':',
      fields: {
        user: read.integer('username_field', 1, [1, 1000]),
        password: read.integer('password_field', 2, [1, 1000]),
      },
      realm: filetype === 'htdigest' ? read.needed('realm') : '',
      plaintext: read.flag('plaintext'),
      seconds: read.seconds('timeout', 10),
    }
  })

const MAX_BYTES = 16 * 1024 * 1024

/** Return a text that changes when the file does. */
const stampOf = (facts: { dev: bigint; ino: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint }) =>
  [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(' ')

/**
 * Return a function that reads the file, and reads it again when it has changed. It rejects if the file cannot be read, or if
 * others than root and the user of this process could have written it.
 */
export function passwordFileReader(settings: FileSettings): () => Promise<PasswordFile> {
  const { filename } = settings
  let known: { readonly stamp: string; readonly file: PasswordFile } | undefined

  return async () => {
    // O_NONBLOCK keeps the open from waiting for a writer if the file is a named pipe.
    const handle = await open(filename, constants.O_RDONLY | constants.O_NONBLOCK).catch(unreadable(filename))
    try {
      const stats = await handle.stat({ bigint: true })
      if (!stats.isFile()) throw new Error(`The file of users ${filename} is not a regular file`)
      checkTrust(filename, Number(stats.uid), Number(stats.mode))
      if (stats.size > MAX_BYTES)
        throw new Error(`The file of users ${filename} is larger than ${MAX_BYTES} bytes`)
      const stamp = stampOf(stats)
      if (known?.stamp !== stamp) known = { stamp, file: parse(await handle.readFile('utf8'), settings) }
      return known.file
    } finally {
      await handle.close()
    }
  }
}

const unreadable = (filename: string) => (error: NodeJS.ErrnoException) => {
  throw new Error(`The file of users ${filename} cannot be read (${error.code})`, { cause: error })
}

function checkTrust(filename: string, uid: number, mode: number): void {
  if (uid !== 0 && uid !== process.geteuid?.())
    throw new Error(
      `The file of users ${filename} belongs to another user (uid ${uid}); it must belong to root or to the user of this process`,
    )
  if ((mode & 0o022) !== 0)
    throw new Error(
      `The file of users ${filename} can be changed by others (mode ${(mode & 0o777).toString(8)}). Run: chmod go-w ${filename}`,
    )
}

function parse(text: string, settings: FileSettings): PasswordFile {
  const users = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [user, stored] = entryOf(line.trim(), settings) ?? []
    if (user && stored && !users.has(user)) users.set(user, stored)
  }
  const [costliest = ''] = [...users.values()].sort((one, other) => costOf(other) - costOf(one))
  return { users, costliest }
}

function entryOf(line: string, settings: FileSettings): readonly [string?, string?] | undefined {
  const { filetype, separator, fields, realm } = settings
  if (filetype === 'text') {
    const all = line.split(separator)
    return [all[fields.user - 1], all[fields.password - 1]]
  }
  if (line.startsWith('#')) return undefined
  const [user, second, third] = line.split(':')
  if (filetype === 'htpasswd') return [user, second]
  return second === realm ? [user, third] : undefined
}
