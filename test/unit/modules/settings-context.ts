import type { Context } from 'salt-ts'
import { option } from '../../../modules/config.ts'
import { call, fakeContext } from './context.ts'

type Fakes = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>

/** A context in which modules find these settings by `config.option`; they call other functions as `fakes` has them. */
export function settingsContext(
  opts: Readonly<Record<string, unknown>>,
  overrides: Partial<Context> = {},
  fakes: Fakes = {},
): ReturnType<typeof fakeContext> {
  const context = fakeContext({ opts, ...overrides })
  const dispatch = async (name: string, ...given: unknown[]) =>
    name === 'config.option'
      ? call(option, given[0] as Record<string, unknown>, context)
      : fakes[name]?.(...given)
  return Object.assign(context, { call: dispatch as unknown as Context['call'] })
}
