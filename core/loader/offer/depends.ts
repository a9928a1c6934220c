import { access, constants, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { isFn } from '../../author/fn.ts'
import type { Dependency } from '../../author/kinds.ts'
import type { Fields } from '../../base/record.ts'

export interface DependencyFacts {
  /** The file that has the dependency; packages are resolved from its directory. */
  readonly path: string
  /** Whether there is a function of that name. */
  hasFunction(name: string): Promise<boolean>
}

/** Missing dependencies: a reason for the whole file, and reasons by function. */
export interface Missing {
  readonly file: string | undefined
  readonly functions: ReadonlyMap<string, string>
  /** Replacements by function. */
  readonly fallbacks: ReadonlyMap<string, unknown>
}

/**
 * Check the dependencies that a file declares (`export const dependsOn = [{ binary: 'git' }]`, Salt's `@depends`).
 * Throws an error with a sentence if the declaration is malformed.
 */
export async function missingDependencies(declared: unknown, facts: DependencyFacts): Promise<Missing> {
  const functions = new Map<string, string>()
  const fallbacks = new Map<string, unknown>()
  let file: string | undefined
  for (const dependency of readDeclaration(declared)) {
    const reason = await reasonFor(dependency, facts)
    if (reason === undefined) continue
    if (!dependency.functions) file ??= reason
    for (const name of dependency.functions ?? []) {
      if (dependency.fallback === undefined) functions.set(name, reason)
      else fallbacks.set(name, dependency.fallback)
    }
  }
  return { file, functions, fallbacks }
}

function readDeclaration(declared: unknown): readonly Dependency[] {
  if (declared === undefined) return []
  const list = Array.isArray(declared) ? declared : [declared]
  const wrong = list.find((one) => !isDependency(one))
  if (wrong === undefined) return list
  throw new Error(
    `dependsOn has ${JSON.stringify(wrong)}. An entry is { binary }, { package } or { function }, each a name or a list of names; it may add 'functions' (a list) and 'fallback' (a function called instead of them)`,
  )
}

function isDependency(one: unknown): one is Dependency {
  if (typeof one !== 'object' || one === null) return false
  const { binary, package: npm, function: called, functions, fallback, ...others } = one as Fields
  const given = [binary, npm, called].filter((value) => value !== undefined)
  const isFallback = fallback === undefined || (functions !== undefined && isCallable(fallback))
  return (
    given.length === 1 &&
    isTexts(given[0]) &&
    (functions === undefined || Array.isArray(functions)) &&
    isFallback &&
    Object.keys(others).length === 0
  )
}

const isCallable = (value: unknown) => typeof value === 'function' || isFn(value)

const isTexts = (value: unknown) =>
  typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'))

/** Return why a dependency is not met; undefined if it is. Of several names all are required. */
async function reasonFor(dependency: Dependency, facts: DependencyFacts): Promise<string | undefined> {
  if (dependency.binary !== undefined) {
    const missing = await firstMissing(dependency.binary, hasProgram)
    return missing && `needs the program '${missing}', which is not in PATH`
  }
  if (dependency.package !== undefined) {
    const missing = await firstMissing(dependency.package, async (name) => hasPackage(name, facts.path))
    const folder = path.dirname(facts.path)
    return missing && `needs the npm package '${missing}': run 'npm install ${missing}' in ${folder} or above`
  }
  const missing = await firstMissing(dependency.function, facts.hasFunction)
  return missing && `needs the function '${missing}', which is not available`
}

async function firstMissing(
  names: string | readonly string[],
  isThere: (name: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const name of [names].flat()) if (!(await isThere(name))) return name
  return undefined
}

async function hasProgram(name: string): Promise<boolean> {
  const folders = name.includes('/')
    ? ['/']
    : (process.env.PATH ?? '').split(path.delimiter).filter(path.isAbsolute)
  for (const folder of folders) if (await isProgram(path.resolve(folder, name))) return true
  return false
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

function hasPackage(name: string, from: string): boolean {
  const require = createRequire(from)
  try {
    require.resolve(name)
    return true
  } catch (error) {
    // The package is installed, but has no entry for `require`.
    return (error as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED'
  }
}
