import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isFn } from '../../../core/author/index.ts'

const folder = new URL('../../../modules/', import.meta.url)
const files = readdirSync(folder).filter((name) => /^[a-z].*\.ts$/.test(name))

/** What a module exports beside functions that users call. */
const OTHERS = ['virtual', 'init']

test.each(files)('%s exports only declared functions, since users could call others, too', async (file) => {
  const exported = Object.entries((await import(new URL(file, folder).href)) as object)
  const plain = exported.filter(
    ([name, value]) => typeof value === 'function' && !isFn(value) && !OTHERS.includes(name),
  )
  expect(plain.map(([name]) => name)).toEqual([])
})
