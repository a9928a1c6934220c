import { describe, expect, test } from 'vitest'
import { run } from '../../../../core/testing/index.ts'
import * as config from '../../../../modules/config.ts'
import * as file from '../../../../modules/file.ts'
import * as hashutil from '../../../../modules/hashutil.ts'
import * as network from '../../../../modules/network.ts'
import * as slsutil from '../../../../modules/slsutil.ts'

describe('a number, a list or null is refused as a text, as in Salt', () => {
  test.each([5, [1], null, true])('for the digest of %j', async (value) => {
    await expect(run(hashutil.md5_digest, [value])).rejects.toThrow("'instr' must be text")
  })

  test('for parts of a path', async () => {
    await expect(run(file.basename, [5])).rejects.toThrow("'path' must be text")
    await expect(run(file.join, ['a', 5])).rejects.toThrow('must be text')
  })

  test('for a map in place of a list of maps', async () => {
    await expect(run(slsutil.merge_all, [{ a: 1 }])).rejects.toThrow("'lst' must be a list")
  })
})

test('null is refused as a mode and as a name of a host', async () => {
  expect((await run(config.manage_mode, [null])).result).toBeNull()
  expect((await run(network.mod_hostname, [null])).result).toBe(false)
})
