/** Templates in the language of Jinja 3, with the filters, tests, functions and tags that Salt adds. */
import type { Environment, Filter, Test } from './environment.ts'
import { listFilters } from './filters/lists.ts'
import { saltFilters } from './filters/salt.ts'
import { setFilters } from './filters/sets.ts'
import { numberFilters, textFilters } from './filters/text.ts'
import { tests } from './tests.ts'

export type { Environment } from './environment.ts'
export { CalledFunctionError, TemplateError, TemplateSyntaxError, UndefinedError } from './errors.ts'
export { globals } from './globals.ts'
export { render } from './render.ts'
export { Callable, type Given, HostObject, plain, Undefined } from './values/values.ts'

export const builtIn: Pick<Environment, 'filters' | 'tests'> = {
  filters: new Map<string, Filter>(
    Object.entries({ ...textFilters, ...numberFilters, ...listFilters, ...saltFilters, ...setFilters }),
  ),
  tests: new Map<string, Test>(Object.entries(tests)),
}
