import { expect, test } from 'vitest'
import { indexFiles } from '../../../../core/loader/files/index-files.ts'
import { openLoader } from '../../../../core/loader/index.ts'
import { kinds } from '../../../../core/loader/kinds.ts'
import { quietLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'

test('the extensions of salt-ts have no mistakes', SLOW, async () => {
  const found: string[] = []
  for (const kind of kinds.values()) {
    const { files } = await indexFiles(kind, {})
    const findings = await openLoader(kind.name, { config: {}, log: quietLog }).check(
      files.map(({ path }) => path),
    )
    const wrong = findings.filter(({ severity }) => severity !== 'note')
    found.push(...wrong.map(({ file, line, rule, message }) => `${file}:${line} ${rule}: ${message}`))
  }
  expect(found).toEqual([])
})
