import type { Returner, ReturnRecord } from '../../core/author/returner.ts'
import { openLoader } from '../../core/loader/index.ts'
import { openConfiguredReturner } from '../../core/outbox/open-returner.ts'
import { quietLog } from './log.ts'

type Config = Readonly<Record<string, unknown>>

/** A returner of this name, with the options this configuration has for it. */
export function returnerWith(name: string, config: Config): Promise<Returner> {
  const loader = openLoader('returners', { config, log: quietLog })
  return openConfiguredReturner({ name }, { loader, config, log: quietLog })
}

export const aReturn = (changes: Partial<ReturnRecord> = {}): ReturnRecord => ({
  jid: '20261122050000000001',
  id: 'web1',
  fun: 'test.ping',
  fun_args: [],
  return: true,
  retcode: 0,
  success: true,
  ...changes,
})
