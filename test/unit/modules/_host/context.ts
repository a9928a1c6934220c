import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { vi } from 'vitest'
import * as cmd from '../../../../modules/cmd.ts'
import { type AnyFn, call, fakeContext } from '../context.ts'

/** A context of a Linux host whose functions may run programs, and call the functions of `others`. */
export function hostContext(
  others: Readonly<Record<string, AnyFn>> = {},
  overrides: Partial<Context> = {},
): ReturnType<typeof fakeContext> {
  const known: Record<string, AnyFn> = { 'cmd.run': cmd.run, 'cmd.run_all': cmd.run_all, ...others }
  const context = fakeContext({ grains: { kernel: 'Linux', os_family: 'Debian' }, ...overrides })
  const nested = Object.assign(context, {
    call: ((name: string, given: Record<string, unknown> = {}) => {
      const fn = known[name]
      if (fn === undefined) throw new Error(`the test gives no ${name}`)
      return call(fn, given, context)
    }) as Context['call'],
  })
  return nested
}

/** Put programs of these names, each a shell script, before those of the host. Undone by `vi.unstubAllEnvs`. */
export async function stubPrograms(folder: string, scripts: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(folder, name), 0o755)
  }
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
}
