import { expect, test } from 'vitest'
import { predictCall } from '../../../../core/loader/calls/check-call.ts'
import { catalogueOfArgspecs } from '../../../../core/loader/describe/python-catalogue.ts'
import { readCatalogue } from '../../../../core/loader/describe/read-catalogue.ts'

const catalogue = readCatalogue(
  JSON.stringify(
    catalogueOfArgspecs({
      'test.ping': { args: null, defaults: null, varargs: null, kwargs: null },
      'test.sleep': { args: ['length'], defaults: null, varargs: null, kwargs: null },
      'cmd.run': { args: ['cmd', 'cwd'], defaults: [null], varargs: null, kwargs: true },
      'test.arg': { args: null, defaults: null, varargs: true, kwargs: true },
      'odd.one': 'what?',
    }),
  ),
)!
const outcome = (fun: string, ...arg: unknown[]) => {
  const foreseen = predictCall({ fun, arg }, catalogue)
  return 'refusal' in foreseen ? foreseen.refusal : foreseen.values
}

test('names of functions and arguments of a Python minion are known, and no types', () => {
  expect(catalogue.python).toBe(true)
  expect(outcome('test.ping')).toEqual({})
  expect(outcome('test.sleep', 'soon')).toEqual({ length: 'soon' })
  expect(outcome('cmd.run', 'id', 'shell=/bin/sh')).toEqual({ cmd: 'id', kwargs: { shell: '/bin/sh' } })
  expect(outcome('test.arg', 1.5, 'a=1')).toEqual({ args: [1.5], kwargs: { a: 1 } })
  expect(outcome('odd.one', 1, 2)).toBeUndefined()
})

test('a call is refused in the words of Python Salt', () => {
  expect(outcome('test.pign')).toBe("'test.pign' is not available.")
  expect(outcome('test.sleep', 1, 'lenght=2')).toBe(
    "ERROR executing 'test.sleep': The following keyword arguments are not valid: lenght=2",
  )
  expect(outcome('test.sleep')).toContain("missing 1 required positional argument: 'length'")
  expect(outcome('test.ping', 1)).toContain('takes 0 positional arguments but 1 was given')
})

test.each([null, 'text', [1]])('%j is no list of functions', (value) =>
  expect(catalogueOfArgspecs(value)).toBeUndefined(),
)
