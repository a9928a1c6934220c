import { stat } from 'node:fs/promises'
import type { Context } from 'salt-ts'
import { which } from '../_cmd/which.ts'

type Facts = Pick<Context, 'context'>

/** Key of Salt's own modules for the same fact. */
const BOOTED = 'salt.utils.systemd.booted'

/** Whether systemd is the init of this host: it has this folder then, says sd_booted(3). */
export async function isBooted({ context }: Facts): Promise<boolean> {
  const known = context.get(BOOTED)
  if (typeof known === 'boolean') return known
  const booted = await stat('/run/systemd/system').then(
    () => true,
    () => false,
  )
  context.set(BOOTED, booted)
  return booted
}

/** Whether systemctl is installed where systemd does not run: it can change links of unit files, and nothing else. */
export async function isOffline(facts: Facts): Promise<boolean> {
  return !(await isBooted(facts)) && (await which('systemctl')) !== null
}
