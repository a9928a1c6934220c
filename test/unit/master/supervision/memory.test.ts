import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { SMALL_REQUESTS_MEMORY } from '../../../../core/master/supervision/memory.ts'

test('bin/salt-master starts the supervisor as the supervisor starts its children', async () => {
  const text = await readFile(new URL('../../../../bin/salt-master', import.meta.url), 'utf8')
  for (const flag of SMALL_REQUESTS_MEMORY.flags) expect(text).toContain(` ${flag} `)
  for (const [name, value] of Object.entries(SMALL_REQUESTS_MEMORY.env))
    expect(text).toContain(`${name}=\${${name}:-${value}}`)
})
