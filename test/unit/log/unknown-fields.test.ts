import { expect, test } from 'vitest'
import { unknownFields } from '../../../core/log/index.ts'

test('an unknown field of a log format is named, with a suggestion', () => {
  expect(
    unknownFields({
      log_fmt_console: '%(what)s 100%% %%(x)s',
      log_fmt_logfile: '%(asctime)s %(mesage)s %(colorlevel)s',
    }),
  ).toEqual([
    'The option log_fmt_console contains the unknown field %(what)s, which stays empty.',
    'The option log_fmt_logfile contains the unknown field %(mesage)s, which stays empty. Did you mean %(message)s?',
  ])
  expect(unknownFields({ log_fmt_console: '[%(levelname)-8s] %(message)s' })).toEqual([])
})
