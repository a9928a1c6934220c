/** Templates in the language of Jinja 3, with the filters, tests, functions and tags that Salt adds. */
import type { Environment, Filter, Test } from './environment.ts'
import { hashFilters } from './filters/hashes.ts'
import { hostFilters } from './filters/host.ts'
import { itertoolsFilters } from './filters/itertools.ts'
import { keyFilters } from './filters/keys.ts'
import { listFilters } from './filters/lists.ts'
import { networkFilters } from './filters/network.ts'
import { regexFilters } from './filters/regex.ts'
import { saltTextFilters } from './filters/salt-text.ts'
import { serializeFilters } from './filters/serialize.ts'
import { setFilters } from './filters/sets.ts'
import { numberFilters, textFilters } from './filters/text.ts'
import { tests } from './tests.ts'

export type { Environment } from './environment.ts'
export { CalledFunctionError, TemplateError, TemplateSyntaxError, UndefinedError } from './errors.ts'
export { globals } from './globals.ts'
export { render } from './render.ts'
export { Callable, type Given, HostObject, Undefined } from './values/objects.ts'
export { plain } from './values/text.ts'

export const builtInFiltersAndTests: Pick<Environment, 'filters' | 'tests'> = {
  filters: merged([
    textFilters,
    numberFilters,
    hashFilters,
    hostFilters,
    itertoolsFilters,
    keyFilters,
    listFilters,
    networkFilters,
    regexFilters,
    saltTextFilters,
    serializeFilters,
    setFilters,
  ]),
  tests: new Map<string, Test>(Object.entries(tests)),
}

function merged(tables: readonly Readonly<Record<string, Filter>>[]): Map<string, Filter> {
  const all = new Map<string, Filter>()
  for (const [name, filter] of tables.flatMap((table) => Object.entries(table))) {
    if (all.has(name)) throw new Error(`the filter ${name} is there twice`)
    all.set(name, filter)
  }
  return all
}
