import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandExecutionError } from 'salt-ts'

export type Root = string | undefined

/** Return the option of shadow's programs to work below another root. @throws CommandExecutionError if others may write to it */
export function rootOption(root: Root): string[] {
  if (root === undefined) return []
  refuseForeign(root)
  return ['-R', root]
}

const OTHERS_WRITE = 0o022
const STICKY = 0o1000

/** Refuse a root folder in which others may place libraries, which the program loads as root. @throws CommandExecutionError */
function refuseForeign(root: string): void {
  if (!existsSync(root)) throw new CommandExecutionError(`The folder ${root} does not exist`)
  const folder = realpathSync(root)
  for (let path = folder; ; path = dirname(path)) {
    const { uid, mode } = statSync(path)
    const isOwn = uid === 0 || uid === process.getuid?.()
    // Others may add to a folder such as /tmp, but not replace what is in it.
    const isClosed = (mode & OTHERS_WRITE) === 0 || (path !== folder && (mode & STICKY) !== 0)
    if (!isOwn || !isClosed)
      throw new CommandExecutionError(
        `${root} is not used as root: other users may write to ${path}, and programs would run what they place there`,
      )
    if (path === '/') return
  }
}
