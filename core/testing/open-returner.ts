import type { Args, Params } from '../author/params.ts'
import type { Returner, ReturnerFacts, ReturnerPlugin } from '../author/returner.ts'
import { returnerOptions } from '../outbox/options.ts'
import { checkedReturner } from '../outbox/returner-members.ts'
import { fakeLog } from './recording-log.ts'

type Values = Readonly<Record<string, unknown>>

/**
 * Open a returner as a minion does, with options that override its defaults. Facts left out are empty.
 *
 * @throws SaltError CONFIG_INVALID for an invalid, unknown or missing option, MODULE_FAILED for a member of the returner
 * that is missing or is not a function
 */
export async function openReturner<P extends Params>(
  plugin: ReturnerPlugin<P>,
  options: Values = {},
  facts: Partial<Omit<ReturnerFacts<unknown>, 'options'>> = {},
): Promise<Returner> {
  const name = plugin.configKey ?? 'tested'
  const { log = fakeLog().log } = facts
  const checked = await returnerOptions(plugin.options, { name, prefix: name, kwargs: options, places: [] })
  const made = await plugin.create({
    log,
    opts: {},
    id: 'minion',
    open: async (other) => {
      throw new Error(`The test does not provide the returner '${other}': pass { open: async (name) => … }.`)
    },
    ...facts,
    options: checked as Args<P>,
  })
  return checkedReturner(name, made, log)
}
