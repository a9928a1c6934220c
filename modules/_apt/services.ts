import { CommandNotFoundError, type Context } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { readApt } from './command.ts'

/** List the services that still use files which an upgrade has replaced. */
export async function outdatedServices(context: Context): Promise<string[]> {
  if ((await which('checkrestart')) === null) {
    throw new CommandNotFoundError(
      "'checkrestart' is needed. It is part of the 'debian-goodies' package which can be installed from official repositories.",
    )
  }
  const { stdout } = await readApt(['checkrestart', '--machine', '--package'], context)
  return [...new Set([...stdout.matchAll(/^SERVICE:([^,\n]*)/gm)].map(([, name = '']) => name))]
}
