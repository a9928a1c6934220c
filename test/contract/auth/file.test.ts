import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync, chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { program } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { authContract, openBackend, PASSWORD } from '../auth.ts'

const folder = await temporaryFolder('salt-ts-auth-file-')
afterAll(() => removeFolder(folder))

const written = (name: string, ...lines: string[]): string => {
  const file = join(folder, name)
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  return file
}

/** A hash of bcrypt with 2^31 rounds: no machine compares a password with it within hours. */
const ENDLESS = `$2y$31$${'a'.repeat(53)}`

/** A file that Apache's `htpasswd` writes, with a password in the kind of each flag. */
function htpasswd(
  name: string,
  users: Readonly<Record<string, readonly string[]>>,
  password = PASSWORD,
): string {
  const file = written(name)
  for (const [user, flags] of Object.entries(users))
    execFileSync('htpasswd', ['-i', ...flags, file, user], {
      input: password,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
  return file
}

/** Apache's `htdigest` asks a terminal, twice. */
async function htdigest(name: string, realm: string, user: string, password: string): Promise<string> {
  const file = join(folder, name)
  const child = spawn('script', ['-qec', `htdigest -c ${file} "${realm}" ${user}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: 20_000,
  })
  child.stdout.on('data', (said) => /password: $/.test(`${said}`) && child.stdin.write(`${password}\n`))
  await once(child, 'exit')
  chmodSync(file, 0o600)
  return file
}

const fred = { username: 'fred', password: PASSWORD }

await authContract({
  name: 'file',
  needs: program('htpasswd'),
  async prepare() {
    const filename = htpasswd('users', { ada: ['-m'], fred: ['-B'] })
    return {
      settings: { filename, filetype: 'htpasswd' },
      right: fred,
      known: { name: 'fred' },
      drop: async () => {},
    }
  },
  wrongSetups: ({ settings }) => ({
    'no file is named': { setup: {}, says: 'external_auth.file.^filename is missing.' },
    'the path of the file depends on where it is read from': {
      setup: { settings: { filename: 'users' } },
      says: 'must be a path that begins with /',
    },
    'the file is not there': {
      setup: { settings: { filename: join(folder, 'none') } },
      says: `The file of users ${join(folder, 'none')} cannot be read (ENOENT)`,
    },
    'a kind of file is unknown': {
      setup: { settings: { ...settings, filetype: 'ldif' } },
      says: 'one of text, htpasswd, htdigest',
    },
    'a kind of hash is unknown': {
      setup: { settings: { ...settings, hashtype: 'rot13' } },
      says: '^hashtype must be one of plaintext, md5,',
    },
    'htdigest needs a realm': {
      setup: { settings: { ...settings, filetype: 'htdigest' } },
      says: '^realm is missing',
    },
  }),
  async unusable() {
    return {
      'the hash takes too long': {
        setup: {
          settings: {
            filename: written('dear', `fred:${ENDLESS}`),
            filetype: 'htpasswd',
            timeout: 1,
          },
        },
        says: /dear: no answer within 1 seconds/,
      },
    }
  },
})

describe('file', () => {
  const { ask, check, close } = openBackend('file')
  afterAll(close)
  const refused = { refused: 'the password is wrong' }

  test.each(['-m', '-B', '-s', '-2', '-5'])('accepts passwords that htpasswd %s writes', async (flag) => {
    for (const password of ['a', 'correct horse battery staple, and more', PASSWORD, '密码🦊']) {
      const settings = { filename: htpasswd('kinds', { fred: [flag] }, password), filetype: 'htpasswd' }
      expect(await ask({ username: 'fred', password }, { settings })).toEqual({ name: 'fred' })
      expect(await ask({ username: 'fred', password: `${password}x` }, { settings })).toEqual(refused)
    }
  })

  test.each(['-1', '-5', '-6'])('accepts passwords that openssl passwd %s writes', async (flag) => {
    for (const password of ['a', PASSWORD, 'x'.repeat(100)]) {
      const hash = execFileSync('openssl', ['passwd', flag, '-stdin'], {
        input: password,
        encoding: 'utf8',
      }).trim()
      const settings = { filename: written('openssl', `fred:${hash}`), filetype: 'htpasswd' }
      expect(await ask({ username: 'fred', password }, { settings })).toEqual({ name: 'fred' })
      expect(await ask({ username: 'fred', password: 'another' }, { settings })).toEqual(refused)
    }
  })

  test('accepts passwords that htdigest writes, for its realm only', async () => {
    const filename = await htdigest('digests', 'the fleet', 'fred', 'correct horse')
    const settings = { filename, filetype: 'htdigest', realm: 'the fleet' }
    const credentials = { username: 'fred', password: 'correct horse' }
    expect(await ask(credentials, { settings })).toEqual({ name: 'fred' })
    expect(await ask({ ...credentials, password: 'wrong' }, { settings })).toEqual(refused)
    expect(await ask(credentials, { settings: { ...settings, realm: 'another' } })).toEqual({
      refused: 'the file has no such user',
    })
  })

  test('refuses a password in plain text in an htpasswd file, unless plaintext is set', async () => {
    const settings = { filename: htpasswd('plain', { fred: ['-p'] }, 'horse'), filetype: 'htpasswd' }
    const credentials = { username: 'fred', password: 'horse' }
    expect(await ask(credentials, { settings })).toEqual(refused)
    expect(await check({ settings })).toEqual([
      expect.stringContaining('first that of fred. Set them again with: htpasswd -B'),
    ])
    expect(await ask(credentials, { settings: { ...settings, plaintext: true } })).toEqual({ name: 'fred' })
  })

  test('reads text files as Salt does, and files with columns in another order', async () => {
    const plain = { filename: written('text', 'dean:goneFishing', 'gene:OceanMan') }
    expect(await ask({ username: 'gene', password: 'OceanMan' }, { settings: plain })).toEqual({
      name: 'gene',
    })
    expect(await ask({ username: 'dean', password: 'OceanMan' }, { settings: plain })).toEqual(refused)
    for (const [hashtype, name] of [
      ['md5', 'md5'],
      ['sha1', 'sha1'],
      ['sha256', 'sha256'],
      ['sha512', 'sha512'],
      ['sha3_256', 'sha3-256'],
      ['blake2b', 'blake2b512'],
    ] as const) {
      const digest = createHash(name).update('OceanMan').digest('hex')
      const settings = {
        filename: written('legacy', `46|trey|${digest}`, 'too short'),
        hashtype,
        field_separator: '|',
        username_field: 2,
        password_field: '3',
      }
      expect(await ask({ username: 'trey', password: 'OceanMan' }, { settings })).toEqual({ name: 'trey' })
      expect(await ask({ username: 'trey', password: digest }, { settings })).toEqual(refused)
    }
  })

  test('notices at once when a password has changed', async () => {
    const settings = { filename: written('changing', 'fred:one') }
    expect(await ask({ username: 'fred', password: 'one' }, { settings })).toEqual({ name: 'fred' })
    written('changing', 'fred:two')
    expect(await ask({ username: 'fred', password: 'one' }, { settings })).toEqual(refused)
    expect(await ask({ username: 'fred', password: 'two' }, { settings })).toEqual({ name: 'fred' })
    appendFileSync(settings.filename, 'fred:three\nada:four\n')
    expect(await ask({ username: 'fred', password: 'three' }, { settings })).toEqual(refused)
    expect(await ask({ username: 'ada', password: 'four' }, { settings })).toEqual({ name: 'ada' })
  })

  test('uses no file that other users may write', async () => {
    const settings = { filename: written('open', 'fred:one') }
    chmodSync(settings.filename, 0o660)
    await expect(ask({ username: 'fred', password: 'one' }, { settings })).rejects.toThrow(
      `can be changed by others (mode 660). Run: chmod go-w ${settings.filename}`,
    )
    expect(await check({ settings })).toEqual([expect.stringContaining('can be changed by others')])
  })

  test(
    'compares the password of an unknown user with the slowest hash, as for a known user',
    SLOW,
    async () => {
      const settings = {
        filename: written('dearest', 'ada:{SHA}x', `fred:${ENDLESS}`),
        filetype: 'htpasswd',
        timeout: 1,
      }
      for (const username of ['fred', 'nobody'])
        await expect(ask({ username, password: 'wrong' }, { settings })).rejects.toThrow('no answer within')
      expect(await ask({ username: 'ada', password: 'wrong' }, { settings })).toEqual(refused)
    },
  )

  test('answers other log-ins while a password is compared', async () => {
    const settings = {
      filename: written('busy', 'ada:one', `fred:${ENDLESS}`),
      filetype: 'htpasswd',
      plaintext: true,
      timeout: 600,
    }
    const given = new AbortController()
    const long = ask({ username: 'fred', password: 'wrong' }, { settings }, given.signal)
    const over = expect(long).rejects.toThrow(/\w/)
    expect(await ask({ username: 'ada', password: 'one' }, { settings })).toEqual({ name: 'ada' })
    given.abort()
    await over
  })
})
