import { expect, test } from 'vitest'
import * as cmd from '../../../modules/cmd.ts'
import * as environ from '../../../modules/environ.ts'
import { call, fakeContext } from './context.ts'

test('A variable that a job sets is seen by its later functions and commands, and not by other jobs', async () => {
  const context = fakeContext()
  expect(await call(environ.setval, { key: 'SALT_A', val: 'x' }, context)).toBe('x')
  expect(await call(environ.get, { key: 'SALT_A' }, context)).toBe('x')
  expect(await call(environ.item, { keys: ['SALT_A', 'SALT_B'] }, context)).toEqual({
    SALT_A: 'x',
    SALT_B: '',
  })
  expect(await call(cmd.run, { cmd: 'echo $SALT_A', python_shell: true }, context)).toBe('x')
  expect(await call(environ.has_value, { key: 'SALT_A' })).toBe(false)
  expect(process.env.SALT_A).toBeUndefined()
})

test('False empties a variable, or removes it; other values are not set', async () => {
  const context = fakeContext()
  expect(await call(environ.setval, { key: 'HOME', val: false }, context)).toBe('')
  expect(await call(environ.has_value, { key: 'HOME', value: '' }, context)).toBe(true)
  expect(await call(environ.setval, { key: 'HOME', val: false, false_unsets: true }, context)).toBe(null)
  expect(await call(environ.has_value, { key: 'HOME' }, context)).toBe(false)
  expect(await call(environ.setval, { key: 'HOME', val: 1 }, context)).toBe(false)
  expect(await call(environ.items, {}, context)).not.toHaveProperty('HOME')
})

test('Several variables are set at once, and the others removed', async () => {
  const context = fakeContext()
  const given = { environ: { A: 'b', N: false }, clear_all: true, false_unsets: true }
  expect(await call(environ.setenv, given, context)).toMatchObject({ A: 'b', N: null, PATH: null })
  expect(await call(environ.items, {}, context)).toEqual({ A: 'b' })
})

test('An invalid name or value of a variable is refused', async () => {
  await expect(call(environ.setval, { key: 'A=B', val: 'x' })).rejects.toThrow('has no "="')
  await expect(call(environ.setval, { key: 'A', val: 'x\0' })).rejects.toThrow(
    'The value of A has a null byte',
  )
  await expect(call(environ.setenv, { environ: {}, update_minion: true })).rejects.toThrow('not supported')
})

test('a value that is neither text nor false sets nothing, and the answer is false', async () => {
  const context = fakeContext()
  for (const given of [{ A: 'b', N: 2 }, 'A', ['A']])
    expect(await call(environ.setenv, { environ: given }, context)).toBe(false)
  expect(await call(environ.has_value, { key: 'A' }, context)).toBe(false)
})

test('a name that is no text is no variable', async () => {
  const context = fakeContext()
  expect(await call(environ.get, { key: 5 }, context)).toBe(false)
  expect(await call(environ.has_value, { key: ['HOME'] }, context)).toBe(false)
  expect(await call(environ.setval, { key: 5, val: 'x' }, context)).toBe(false)
  expect(await call(environ.item, { keys: { a: 1 } }, context)).toEqual({})
})
