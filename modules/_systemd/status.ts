import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import type { Outcome } from '../_program/run.ts'
import { isOffline } from './booted.ts'
import { systemctl } from './systemctl.ts'
import { unitName } from './units.ts'

/** The version since which the exit code of `systemctl status` tells a stopped unit from an unknown one. */
const TELLING_VERSION = 231

const statusOf = (name: string, context: Context): Promise<Outcome> =>
  systemctl(['status', '-n', '0'], name, context, { merged: true, ignoreRetcode: true })

/** Whether systemd knows a unit. @throws CommandExecutionError if systemd does not run */
export async function isAvailable(name: string, context: Context): Promise<boolean> {
  if (await isOffline(context)) {
    throw new CommandExecutionError(`Cannot run in offline mode. Failed to get information on unit '${name}'`)
  }
  return isKnown(await statusOf(name, context), name, context)
}

function isKnown({ retcode, stdout }: Outcome, name: string, { grains }: Context): boolean {
  const { version } = (grains.systemd ?? {}) as { version?: unknown }
  if (!(Number(version) < TELLING_VERSION)) return retcode >= 0 && retcode < 4
  if (/could not be found/i.test(stdout)) return false
  const loaded = /^\s+loaded:\s+(\S+)/im.exec(stdout)?.[1]
  if (loaded === undefined) throw new CommandExecutionError(`Failed to get information on unit '${name}'`)
  return loaded !== 'not-found'
}

/** Make systemd read its unit files again. */
export async function reloadUnits(context: Context): Promise<true> {
  const { retcode, stdout } = await systemctl(['--system', 'daemon-reload'], undefined, context, {
    merged: true,
  })
  if (retcode === 0) return true
  throw new CommandExecutionError(`Problem performing systemctl daemon-reload: ${stdout}`)
}

/**
 * Make systemd read its unit files again if that of a unit has changed, or is new in /etc. There is nothing to do where
 * systemd does not run, or for another root.
 */
export async function reloadIfChanged(name: string, context: Context, root?: string): Promise<void> {
  const unit = unitName(name)
  if (root || (await isOffline(context))) return
  const status = await statusOf(name, context)
  const changed = /'systemctl daemon-reload'/i.test(status.stdout)
  if (changed || ((await hasOwnFile(unit)) && !isKnown(status, name, context))) await reloadUnits(context)
}

const hasOwnFile = (unit: string): Promise<boolean> =>
  access(join('/etc/systemd/system', unit), constants.R_OK).then(
    () => true,
    () => false,
  )
