import { describe, expect, test } from 'vitest'
import { xmlItems } from '../../../../modules/_http/xml.ts'
import { SLOW } from '../../../harness/slow.ts'

describe('XML from a server', () => {
  test.each([
    ['a name without an end', `<${'a'.repeat(300_000)}`],
    ['comments without an end', '<!--'.repeat(50_000)],
    ['instructions without an end', '<?'.repeat(50_000)],
    ['sections without an end', '<![CDATA['.repeat(50_000)],
    ['quotes without an end', `<r>${`<a "'`.repeat(50_000)}`],
    ['an element without an end', `<r>${'<a>'.repeat(20_000)}${'</b>'.repeat(20_000)}</r>`],
  ])('is refused in a moment: %s', (_, text) => {
    expect(() => xmlItems(text)).toThrow('The body is not valid XML')
  })

  test('is read quickly with many elements of one name, and long attributes', SLOW, () => {
    const text = `<r><list ${'b'.repeat(300_000)}>${'<a/>'.repeat(60_000)}</list></r>`
    const [found] = xmlItems(text) as [{ a: unknown[] }]
    expect(found.a).toHaveLength(60_000)
    expect(found.a.slice(0, 2)).toEqual([null, { a: null }])
  })

  test('keeps elements with names of object members, too', () => {
    const [found] = xmlItems('<r><a><__proto__><b>1</b></__proto__><constructor>2</constructor></a></r>')
    expect(Object.entries(found as object)).toEqual([
      ['__proto__', { b: '1' }],
      ['constructor', '2'],
    ])
  })

  test('has a limited depth', () => {
    const nested = (depth: number) => `<r>${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}</r>`
    expect(xmlItems(nested(1000))).toHaveLength(1)
    expect(() => xmlItems(nested(20_000))).toThrow('more than 1000 elements within each other')
  })

  test('may have quotes, comments and sections in it', () => {
    const text = `<?xml version="1.0"?><!-- <x> --><r><n:a b="1 > 0" c='<'>x &amp; <![CDATA[<y>]]></n:a><d e="/"/></r>`
    expect(xmlItems(text)).toEqual([{ a: 'x & <y>' }, { d: null }])
  })
})
