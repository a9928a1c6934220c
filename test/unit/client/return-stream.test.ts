import { describe, expect, test } from 'vitest'
import { resultOf } from '../../../core/client/return-stream.ts'

const several = { jid: '1', fun: ['test.ping', 'test.exception'], return: { 'test.ping': true } }

describe('a job with several functions', () => {
  test('has failed if one of them threw on a Python minion, which gives no code for that one', () => {
    const data = {
      ...several,
      retcode: { 'test.ping': 0 },
      success: { 'test.ping': true, 'test.exception': false },
    }
    expect(resultOf('web1', data)).toMatchObject({ success: false })
  })

  test('has failed if one of them threw on a Python minion that answers in order', () => {
    const data = { ...several, return: [true, 'Traceback'], retcode: [0, null], success: [true, false] }
    expect(resultOf('web1', data)).toMatchObject({ success: false })
  })

  test('has the highest code, and has succeeded if all of them have', () => {
    const codes = { ...several, retcode: { 'test.ping': 0, 'test.exception': 3 } }
    expect(resultOf('web1', codes)).toMatchObject({ retcode: 3, success: false })
    const good = { ...several, retcode: [0, 0], success: [true, true] }
    expect(resultOf('web1', good)).toMatchObject({ retcode: 0, success: true })
  })
})
