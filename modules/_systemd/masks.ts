import { readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { reloadIfChanged } from './status.ts'
import { systemctl } from './systemctl.ts'
import { unitName } from './units.ts'

/** Whether a unit is masked, for ever or until the next boot: a link to /dev/null stands in place of its file. */
export async function isMasked(name: string, runtime: boolean, root = '/'): Promise<boolean> {
  const link = join(root, runtime ? '/run' : '/etc', 'systemd/system', unitName(name))
  return (await readlink(link).catch(() => undefined)) === '/dev/null'
}

/** Remove a mask if it is there. */
export async function unmaskUnit(
  name: string,
  runtime: boolean,
  root: string | undefined,
  context: Context,
): Promise<true> {
  await reloadIfChanged(name, context, root)
  if (!(await isMasked(name, runtime, root))) return true
  const { retcode } = await systemctl(['unmask', ...(runtime ? ['--runtime'] : [])], name, context, {
    root,
    scoped: true,
    merged: true,
  })
  if (retcode !== 0) throw new CommandExecutionError(`Failed to unmask service '${name}'`)
  return true
}

interface Masks {
  readonly unmask: boolean
  readonly unmask_runtime: boolean
}

/** Remove the masks that a caller wants to have removed before it changes a unit. */
export async function removeMasks(
  name: string,
  { unmask, unmask_runtime }: Masks,
  context: Context,
  root?: string,
): Promise<void> {
  if (unmask) await unmaskUnit(name, false, root, context)
  if (unmask_runtime) await unmaskUnit(name, true, root, context)
}
