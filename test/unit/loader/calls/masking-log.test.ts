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

test('numbers, bytes and single lines of a secret are hidden as well', () => {
  const log = maskingLog(fakeLog().log)
  const secrets = { pin: 918273645, key: Buffer.from('ABCDEF1'), pem: 'x\nMIIEvQIBADANBg\n', short: 12 }
  const any = p.secret(p.any())
  hideSecrets(log, secrets, { pin: any, key: any, pem: any, short: any })
  expect(withoutSecrets(log, 'pin 918273645')).toBe(`pin ${MASK}`)
  expect(withoutSecrets(log, { pin: 918273645, count: 12 })).toEqual({ pin: MASK, count: 12 })
  for (const encoding of ['utf8', 'base64', 'hex'] as const)
    expect(withoutSecrets(log, `key ${secrets.key.toString(encoding)}`)).toBe(`key ${MASK}`)
  expect(withoutSecrets(log, 'bad line MIIEvQIBADANBg')).toBe(`bad line ${MASK}`)
})
