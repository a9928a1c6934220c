/** Hook of oclif for unknown commands. */
import type { Hook } from '@oclif/core/interfaces'
import { closest } from '../../base/closest.ts'
import { UsageError } from '../exit-codes.ts'

const notFound: Hook.CommandNotFound = async ({ id, config }) => {
  const [typed = ''] = id.split(':')
  const names = config.commandIDs.map((name) => name.replaceAll(':', ' '))
  const similar = closest(typed, names)
  const hint = similar ? ` Did you mean '${similar}'?` : ''
  throw new UsageError(`There is no command '${typed}'. Commands are: ${names.join(', ')}.${hint}`)
}

export default notFound
