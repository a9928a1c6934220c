import type { Context } from 'salt-ts'
import * as cmd from '../../../modules/cmd.ts'
import { type AnyFn, call, fakeContext, type Line } from './context.ts'

/** A context in which functions of `cmd` are the real ones, and others are those of `fakes`. Both get what the caller passes by name. */
export function commandContext(
  fakes: Readonly<Record<string, (given: Record<string, unknown>) => unknown>> = {},
  overrides: Partial<Context> = {},
): Context & { readonly lines: Line[] } {
  const context = fakeContext(overrides)
  const nested = Object.create(context, { nested: { value: true } }) as Context
  const functions = cmd as unknown as Record<string, AnyFn>
  const dispatch = async (name: string, given: Record<string, unknown>) => {
    const [module, fun = ''] = name.split('.')
    if (module !== 'cmd') return fakes[name]?.(given)
    const result = await call(functions[fun]!, given, nested)
    context.retcode = nested.retcode
    return result
  }
  return Object.assign(context, { call: dispatch as unknown as Context['call'] })
}
