import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { slim } from '../../../../core/master/supervision/memory.ts'

test('bin/salt-master starts the supervisor as the supervisor starts its children', async () => {
  const text = await readFile(new URL('../../../../bin/salt-master', import.meta.url), 'utf8')
  for (const flag of slim.flags) expect(text).toContain(` ${flag} `)
  for (const [name, value] of Object.entries(slim.env))
    expect(text).toContain(`${name}=\${${name}:-${value}}`)
})
