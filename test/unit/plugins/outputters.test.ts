import { describe, expect, test } from 'vitest'
import { DateTime, Float } from '../../../core/codec/values.ts'
import { render } from '../../harness/outputters.ts'
import { SLOW } from '../../harness/slow.ts'

describe('outputters', () => {
  test('no_return shows the reason under each id, in red', async () => {
    const silent = { web01: 'Minion did not return. [No response]\nsee salt-run' }
    expect(await render('no_return', silent)).toBe(
      'web01:\n    Minion did not return. [No response]\n    see salt-run',
    )
    expect(await render('no_return', { a: 'x' }, { color: true })).toBe(
      '\x1b[0;36ma\x1b[0;0m:\n\x1b[0;31m    x\x1b[0;0m',
    )
  })

  test('nested shows where a failed return begins in red', async () => {
    expect(await render('nested', { a: 'x' }, { color: true, retcode: 1 })).toBe(
      '\x1b[0;31ma\x1b[0;0m:\n    \x1b[0;32mx\x1b[0;0m',
    )
  })

  test.each(['nested', 'table', 'highstate', 'no_return'])(
    '%s replaces control characters on a terminal, and ESC everywhere',
    async (name) => {
      const value = { 'b\x1b]0;t\x07': name === 'table' ? ['x\x1b[2J\x07\x9bz'] : 'x\x1b[2J\x07\x9bz' }
      const text = await render(name, value, { terminal: true })
      expect(text).toContain('b?]0;t?:')
      expect(text).toContain('x?[2J??z')
      expect(await render(name, value)).toContain('x?[2J\x07\x9bz')
      expect(await render(name, value, { strip_colors: false })).toContain('x\x1b[2J')
    },
  )

  test('highstate uses nested for data without states', async () => {
    for (const value of [
      1,
      [],
      { a: { 'x_|-y': { result: true, changes: {} } } },
      { a: { s: { result: true } } },
    ])
      expect(await render('highstate', value)).toBe(await render('nested', value))
  })

  test('json keeps large integers, and always writes valid JSON', async () => {
    const value = {
      big: 2n ** 64n,
      nan: Number.NaN,
      one: new Float(1),
      bytes: Buffer.from([255]),
      at: new DateTime('20200102T03:04:05.000006'),
    }
    const text = await render('json', value, { indent: -1 })
    expect(text).toBe(
      '{"big": 18446744073709551616, "nan": null, "one": 1.0, "bytes": "b\'\\\\xff\'", "at": "2020-01-02T03:04:05.000006"}',
    )
    expect(() => JSON.parse(text)).not.toThrow()
  })

  test('raw writes floats as Python does', async () => {
    const floats = [
      new Float(1),
      new Float(-0),
      1.5,
      1e-5,
      0.0001,
      new Float(1e16),
      1e22,
      123456.789,
      Number.NaN,
      -Infinity,
    ]
    expect(await render('raw', floats)).toBe(
      '[1.0, -0.0, 1.5, 1e-05, 0.0001, 1e+16, 1e+22, 123456.789, nan, -inf]',
    )
  })

  test('raw quotes and escapes as Python does', async () => {
    const texts = ["it's", '"', `'"`, '\u00a0', '\u200b', '\u{1f600}', '\u{e0001}', 'é', '\\']
    expect(await render('raw', texts)).toBe(
      `["it's", '"', '\\'"', '\\xa0', '\\u200b', '😀', '\\U000e0001', 'é', '\\\\']`,
    )
  })

  test('yaml folds long text at 80 columns and quotes text that would be read as another type', async () => {
    const value = {
      long: 'the quick brown fox jumps over the lazy dog '.repeat(3).trim(),
      yes: 'yes',
      date: '2020-01-01',
      bin: Buffer.from([1]),
    }
    expect(await render('yaml', value)).toBe(
      [
        'bin: !!binary |',
        '  AQ==',
        "date: '2020-01-01'",
        'long: the quick brown fox jumps over the lazy dog the quick brown fox jumps over the',
        '  lazy dog the quick brown fox jumps over the lazy dog',
        "'yes': 'yes'",
      ].join('\n'),
    )
  })

  test('pprint breaks long values at 80 columns', async () => {
    const text = await render('pprint', { web01: { a: 'x'.repeat(60), b: ['y'.repeat(30), 'z'.repeat(30)] } })
    expect(text).toBe(
      `{'web01': {'a': '${'x'.repeat(60)}',\n           'b': ['${'y'.repeat(30)}',\n                 '${'z'.repeat(30)}']}}`,
    )
  })

  test('table shows rows of different height and length', async () => {
    const text = await render('table', {
      web01: [
        ['a', 'b\nc'],
        ['d', 'e'],
      ],
    })
    expect(text.split('\n').slice(2)).toEqual([
      '    ---------',
      '    | a | b |',
      '    |   | c |',
      '    ---------',
      '    | d | e |',
      '    ---------',
    ])
    expect(await render('table', { web01: [{ a: 1 }, 'x'] })).toBe('web01:\n----------')
  })

  test('key lists ids sorted and without control characters', async () => {
    expect(await render('key', { minions_pre: ['b', 'a\x1b[2J'] })).toBe('Unaccepted Keys:\na?[2J\nb')
  })

  test('every outputter accepts every kind of value', SLOW, async () => {
    const values = [
      null,
      true,
      1,
      'text',
      [],
      [[]],
      {},
      { a: { b: [null] } },
      new Map([[1, 2]]),
      Buffer.from('x'),
      new Set([1]),
      undefined,
    ]
    for (const name of [
      'nested',
      'json',
      'yaml',
      'raw',
      'pprint',
      'txt',
      'newline_values_only',
      'table',
      'key',
      'no_return',
      'quiet',
      'highstate',
      'profile',
    ]) {
      for (const value of values) expect(typeof (await render(name, value))).toBe('string')
    }
  })
})
