import { type Context, untyped } from 'salt-ts'
import { asReceived, messageOf } from '#internal'
import { Callable, CalledFunctionError, type Given, HostObject, plain, Undefined } from '../_jinja/index.ts'

/** The variable `salt`: functions as `salt['test.ping']()` and `salt.test.ping()`. */
export function saltFunctions({ call, loader }: Context): unknown {
  const known = new Map<string, Promise<boolean>>()
  const isThere = (name: string) => {
    const found = known.get(name) ?? loader.functions(name).then((names) => names.includes(name))
    known.set(name, found)
    return found
  }
  const functionOf = async (name: string) =>
    (await isThere(name))
      ? new Callable(name, (given) => callFunction(call, name, given))
      : new Undefined(`'salt' has no function '${name}'`)
  return new HostObject({
    typeName: 'salt',
    has: isThere,
    member: (name) =>
      name.includes('.')
        ? functionOf(name)
        : new HostObject({ typeName: `salt.${name}`, member: (inner) => functionOf(`${name}.${inner}`) }),
  })
}

/** Call a function with values of a template. Its result is as a client receives it. @throws CalledFunctionError */
export async function callFunction(
  call: Context['call'],
  name: string,
  { args, kwargs }: Given,
): Promise<unknown> {
  const named = Object.fromEntries([...kwargs].map(([key, value]) => [key, plain(value)]))
  const positional = args.map(plain)
  try {
    return asReceived(await call(untyped(name), positional, named), 'return')
  } catch (cause) {
    throw new CalledFunctionError(messageOf(cause), { cause })
  }
}
