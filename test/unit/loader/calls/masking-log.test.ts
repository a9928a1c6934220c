import { expect, test } from 'vitest'
import { p } from '../../../../core/author/index.ts'
import { MASK } from '../../../../core/base/secret.ts'
import { hideSecrets, maskingLog, withoutSecrets } from '../../../../core/loader/calls/masking-log.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'

test('a secret of several lines is hidden as JSON writes it, too', () => {
  const log = maskingLog(fakeLog().log)
  const key = 'first "line"\nsecond line'
  hideSecrets(log, { key }, { key: p.secret(p.string()) })
  expect(withoutSecrets(log, `a ${key} b`)).toBe(`a ${MASK} b`)
  expect(withoutSecrets(log, JSON.stringify({ key }))).toBe(`{"key":"${MASK}"}`)
})
