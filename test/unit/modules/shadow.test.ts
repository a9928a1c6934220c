import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SaltInvocationError } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as shadow from '../../../modules/shadow.ts'
import { removeFolder } from '../../harness/folder.ts'
import { needs, ROOT } from '../../harness/needs.ts'
import { scratchRoot, shadowPrograms } from './_accounts/scratch-root.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

const HASH = '$1$UYCIxa628.9qXjpQCjM4a..'
const NOBODY = { name: '', passwd: '', lstchg: '', min: '', max: '', warn: '', inact: '', expire: '' }

let root: string
/** Call a function below the scratch root. */
const below = (called: AnyFn, given: Record<string, unknown>, context = fakeContext()) =>
  call(called, { ...given, root }, context)
const infoOf = (name: string) => below(shadow.info, { name })

beforeEach(async () => {
  root = await scratchRoot()
})
afterEach(() => removeFolder(root))

describe('Password entries are read', () => {
  test('by shadow.info, which has the members of Salt', async () => {
    expect(await infoOf('fred')).toEqual({
      name: 'fred',
      passwd: '$6$salt$hash',
      lstchg: 19000,
      min: 0,
      max: 99999,
      warn: 7,
      inact: -1,
      expire: -1,
    })
  })

  test('by shadow.info, which is empty for a user without an entry, and without a shadow file', async () => {
    expect(await infoOf('nosuchuser')).toEqual(NOBODY)
    await rm(join(root, 'etc/shadow'))
    expect(await infoOf('fred')).toEqual(NOBODY)
  })

  test('by shadow.list_users, sorted', async () => {
    expect(await below(shadow.list_users, {})).toEqual(['daemon', 'fred', 'root'])
  })

  test('from this host', needs(ROOT), async () => {
    expect(await call(shadow.list_users)).toContain('root')
    expect(await call(shadow.info, { name: 'root' })).toMatchObject({ name: 'root' })
  })

  test('shadow.default_hash is that of no password', async () => {
    expect(await call(shadow.default_hash)).toBe('!')
  })
})

describe('shadow.gen_password', () => {
  test('makes a hash of SHA-512 with a random salt', async () => {
    expect(await call(shadow.gen_password, { password: 'I_am_password' })).toMatch(/^\$6\$.{16}\$.{86}$/)
  })

  test('uses a given salt and algorithm', async () => {
    const given = { password: 'I_am_password', crypt_salt: 'I_am_salt', algorithm: 'sha256' }
    expect(await call(shadow.gen_password, given)).toBe(
      '$5$I_am_salt$FnWvOIJn1F6zDPIqTV2zjq52vBNkOvorjARGDrLPDKA',
    )
  })

  test('declares the password as secret', () => {
    expect(shadow.gen_password.params.password).toMatchObject({ secret: true })
    expect(shadow.set_password.params.password).toMatchObject({ secret: true })
  })
})

describe('Passwords are changed', needs(...shadowPrograms), () => {
  test.each([false, true])('by shadow.set_password with use_usermod=%s', async (use_usermod) => {
    const { mode } = await stat(join(root, 'etc/shadow'))
    expect(await below(shadow.set_password, { name: 'root', password: HASH, use_usermod })).toBe(true)
    const today = Math.floor(Date.now() / 86_400_000)
    const changed = expect.toSatisfy((day) => Math.abs(day - today) <= 1)
    expect(await infoOf('root')).toMatchObject({ passwd: HASH, lstchg: changed })
    expect(await infoOf('fred')).toMatchObject({ passwd: '$6$salt$hash', lstchg: 19000 })
    expect((await stat(join(root, 'etc/shadow'))).mode).toBe(mode)
  })

  test('by shadow.set_password, which refuses an invalid hash', async () => {
    const before = await readFile(join(root, 'etc/shadow'), 'utf8')
    for (const password of ['a:b', 'a\nroot::0:0:99999:7:::']) {
      await expect(below(shadow.set_password, { name: 'fred', password })).rejects.toThrow(
        SaltInvocationError,
      )
    }
    expect(await readFile(join(root, 'etc/shadow'), 'utf8')).toBe(before)
  })

  test('by shadow.set_password, which returns false for a user that does not exist', async () => {
    const context = fakeContext()
    expect(await below(shadow.set_password, { name: 'nosuchuser', password: HASH }, context)).toBe(false)
    expect(context.lines).toContainEqual({
      level: 'warn',
      message: 'user nosuchuser does not exist, cannot set password',
    })
  })

  test('by shadow.set_password, but not in /etc/passwd if there is no shadow file', async () => {
    await rm(join(root, 'etc/shadow'))
    expect(await below(shadow.set_password, { name: 'fred', password: HASH })).toBe(false)
    expect(await readFile(join(root, 'etc/passwd'), 'utf8')).not.toContain(HASH)
  })

  test('by shadow.set_password, whose hash is never logged', async () => {
    const context = fakeContext()
    for (const use_usermod of [false, true]) {
      await below(shadow.set_password, { name: 'fred', password: HASH, use_usermod }, context)
    }
    expect(JSON.stringify(context.lines)).not.toContain(HASH)
  })

  test('by shadow.lock_password and shadow.unlock_password', async () => {
    for (const times of [1, 2]) {
      expect([times, await below(shadow.lock_password, { name: 'fred' })]).toEqual([times, true])
      expect(await infoOf('fred')).toMatchObject({ passwd: '!$6$salt$hash' })
    }
    for (const times of [1, 2]) {
      expect([times, await below(shadow.unlock_password, { name: 'fred' })]).toEqual([times, true])
      expect(await infoOf('fred')).toMatchObject({ passwd: '$6$salt$hash' })
    }
    expect(await below(shadow.lock_password, { name: 'nosuchuser' })).toBe(false)
    expect(await below(shadow.unlock_password, { name: 'nosuchuser' })).toBe(false)
  })

  test('by shadow.del_password', async () => {
    expect(await below(shadow.del_password, { name: 'fred' })).toBe(true)
    expect(await infoOf('fred')).toMatchObject({ passwd: '' })
    expect(await below(shadow.del_password, { name: 'nosuchuser' })).toBe(false)
  })
})

describe('Password aging is changed', needs(...shadowPrograms), () => {
  const cases: [string, AnyFn, Record<string, unknown>, Record<string, unknown>][] = [
    ['set_date', shadow.set_date, { date: 0 }, { lstchg: 0 }],
    ['set_date by a date', shadow.set_date, { date: '2030-01-31' }, { lstchg: 21945 }],
    ['set_expire', shadow.set_expire, { expire: 22000 }, { expire: 22000 }],
    ['set_expire by a date', shadow.set_expire, { expire: '2030-01-31' }, { expire: 21945 }],
    ['set_inactdays', shadow.set_inactdays, { inactdays: 7 }, { inact: 7 }],
    ['set_maxdays', shadow.set_maxdays, { maxdays: 90 }, { max: 90 }],
    ['set_mindays', shadow.set_mindays, { mindays: 7 }, { min: 7 }],
    ['set_warndays', shadow.set_warndays, { warndays: 14 }, { warn: 14 }],
  ]
  test.each(cases)(
    'by shadow.%s, which returns true also the second time',
    async (_, called, given, expected) => {
      expect(await below(called, { name: 'fred', ...given })).toBe(true)
      expect(await infoOf('fred')).toMatchObject(expected)
      expect(await below(called, { name: 'fred', ...given })).toBe(true)
      expect(await below(called, { name: 'nosuchuser', ...given })).toBe(false)
    },
  )

  test('by shadow.set_expire, which accepts -1 for never', async () => {
    await below(shadow.set_expire, { name: 'fred', expire: 22000 })
    expect(await below(shadow.set_expire, { name: 'fred', expire: -1 })).toBe(true)
    expect(await infoOf('fred')).toMatchObject({ expire: -1 })
  })

  test('by shadow.set_expire, which returns false for an invalid date', async () => {
    const context = fakeContext()
    expect(await below(shadow.set_expire, { name: 'fred', expire: 'soon' }, context)).toBe(false)
    expect(context.retcode).not.toBe(0)
  })
})
