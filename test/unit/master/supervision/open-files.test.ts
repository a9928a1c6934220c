import { expect, test } from 'vitest'
import { openFilesAdvice } from '../../../../core/master/supervision/open-files.ts'

test('no advice is given if the process may open as many files as it should', () => {
  expect(openFilesAdvice({ allowed: 100_000, wanted: 100_000, minions: 5 })).toBeUndefined()
  expect(openFilesAdvice({ allowed: Number.POSITIVE_INFINITY, wanted: 100_000, minions: 5 })).toBeUndefined()
})

test('a limit below the default is logged, and one below max_open_files or the need of the minions is a warning', () => {
  expect(openFilesAdvice({ allowed: 20_000, wanted: 100_000, minions: 5 })?.level).toBe('info')
  expect(openFilesAdvice({ allowed: 20_000, wanted: 50_000, minions: 5 })).toEqual({
    level: 'warn',
    message:
      'This process may open 20000 files, and max_open_files is 50000. Set LimitNOFILE=50000 in the service unit of ' +
      'salt-master, or run "ulimit -n" with that number before it is started.',
  })
  expect(openFilesAdvice({ allowed: 1024, wanted: 100_000, minions: 300 })).toEqual({
    level: 'warn',
    message: expect.stringContaining('too few for 300 accepted minions'),
  })
})
