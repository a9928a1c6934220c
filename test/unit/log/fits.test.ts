import { expect, test } from 'vitest'
import { loadMasterConfig } from '../../../core/config/index.ts'
import { createLogger } from '../../../core/log/index.ts'

test('a logger has the formats of the configuration', () => {
  const lines: string[] = []
  const { config } = loadMasterConfig({
    configDir: '/nonexistent',
    overrides: { log_fmt_console: '%(name)s %(message)s' },
  })
  const stream = { write: (text: string) => lines.push(text) }
  createLogger({ program: 'salt', console: { level: config.log_level, stream }, formats: config }).warn(
    'hello',
  )
  expect(lines).toEqual(['salt.cli.salt hello\n'])
})
