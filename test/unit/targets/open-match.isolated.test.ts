import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openMatchers } from '../../../core/targets/open-match.ts'
import { recordingLog } from '../../../core/testing/recording-log.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

process.execArgv.length = 0 // what loads files runs what was built, without the test runner's conditions

test('a matcher whose file ends its process is named, and the others work', async () => {
  const folder = await temporaryFolder('salt-matchers-')
  await writeFile(join(folder, 'bad.js'), 'process.exit(3)\n')
  await writeFile(join(folder, 'own.js'), 'export default { match: () => true }\n')
  const logged: string[] = []
  const log = recordingLog((level, message) => logged.push(`${level} ${message}`))
  try {
    const matcher = await openMatchers({ matchers_dirs: [folder] }, log)
    const of = (tgt_type: string) => matcher.match({ tgt: 'web*', tgt_type }, { id: 'web1' })
    expect([of('own'), of('glob'), of('bad')]).toEqual([true, true, false])
  } finally {
    await removeFolder(folder)
  }
  expect(logged.join()).toContain(`${join(folder, 'bad.js')}: its process ended with exit code 3`)
})
