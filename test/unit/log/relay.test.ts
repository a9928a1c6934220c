import { expect, test } from 'vitest'
import { createLogger } from '../../../core/log/index.ts'
import { createRelayLog, type RelayedLine, writeRelayedLine } from '../../../core/log/relay.ts'

test('a line of another process keeps its process, component and facts, without secrets', () => {
  const given: RelayedLine[] = []
  const log = createRelayLog((line) => given.push(line), 'JobProcess') as ReturnType<typeof createLogger>
  log.info('started')
  log.child('loaded.int.module.cmd').debug('ran {command}', {
    command: 'x',
    password: 'hunter2',
    f: () => 1,
  })
  log.error('failed', new Error('no disk'))
  expect(structuredClone(given)).toHaveLength(3)
  expect(JSON.stringify(given)).not.toContain('hunter2')

  const written: string[] = []
  const own = createLogger({
    program: 'salt-minion',
    console: { level: 'all', stream: { write: (text) => written.push(text) } },
    formats: { log_fmt_console: '%(name)s %(process)s %(processName)s %(message)s' },
  })
  for (const line of given)
    writeRelayedLine(own, { ...line, origin: { ...line.origin, process: 4711 } }, 'minion')
  expect(written.slice(0, 2)).toEqual([
    'salt.minion 4711 JobProcess started\n',
    'salt.loaded.int.module.cmd 4711 JobProcess ran x password=********** f="() => 1"\n',
  ])
  expect(written[2]).toMatch(/^salt\.minion 4711 JobProcess failed error="no disk"\n {4}Error: no disk/)
})
