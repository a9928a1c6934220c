import { describe, expect, test } from 'vitest'
import { docsOf } from '../../../../core/loader/describe/docs.ts'
import { sourceFacts } from '../../../../core/loader/describe/read-source.ts'

describe('facts from the text of a file', () => {
  test('are names, functions, and whether it has a virtual function', () => {
    const source = `
import { fn, p } from 'salt-ts'
export const virtualName = 'pkg'
export const virtualAliases = ['packages', "apt"] as const
export const virtual = () => true
export const install = fn({ name: p.string() }, () => 1)
export const NAMES = ['a']
export const VERSION: string = '1'
export async function list() {}
export function* each() {}
export class Thing {}
export type Name = string
export interface Shape {}
const remove = fn(() => 1), no = 1
export { remove as delete, type Name as Other, no as false }
// export const commented = fn(() => 1)
export default {}
`
    expect(sourceFacts(source, 'aptpkg')).toEqual({
      names: ['pkg', 'packages', 'apt'],
      functions: ['install', 'list', 'each', 'delete', 'false'],
      gated: true,
    })
  })
  test.each([
    ['export * from "./other.ts"'],
    ['export const { a, b } = make()'],
    ['module.exports = { a }'],
    ['if (x) {\n  exports.a = () => 1\n}'],
    ['Object.assign(exports, { a })'],
  ])('are unknown if the text does not show them: %s', (source) => {
    expect(sourceFacts(source, 'mod')).toMatchObject({ functions: undefined })
  })
  test('include the exports that CommonJS assigns', () => {
    const source = `exports.a = fn(() => 1)\nmodule.exports.b = (x) => x\nexports.NAME = 'x'\n`
    expect(sourceFacts(source, 'mod').functions).toEqual(['a', 'b'])
    expect([...docsOf(`/** Does it. */\n${source}`).functions]).toEqual([['a', 'Does it.']])
  })
  test('leave out a computed name', () => {
    const computed = `export const virtualName = process.platform\n`
    expect(sourceFacts(computed, 'mod').names).toBeUndefined()
  })
})

describe('documentation from the text of a file', () => {
  test('is the comment above the export, or above what is exported under another name', () => {
    const { module, functions } = docsOf(`/** The module. */
import x from 'x'

/** First, see {@link second}. */
export const first = fn(() => 1)
export const bare = fn(() => 1)
// not this one
export const second = fn(() => 1)
/** Removes.
 *  @example salt '*' m.delete
 *  @returns nothing
 */
const remove = fn(() => 1)
export { remove as delete, first as again }
`)
    expect(module).toBe('The module.')
    expect([...functions]).toEqual([
      ['first', 'First, see second.'],
      ['delete', "Removes.\n@returns nothing\n\nCLI Example:\n\n    salt '*' m.delete"],
      ['again', 'First, see second.'],
    ])
  })
  test('a first comment that belongs to a function is not the module’s', () => {
    expect(docsOf('/** Of f. */\nexport const f = fn(() => 1)\n').module).toBeUndefined()
  })
})
