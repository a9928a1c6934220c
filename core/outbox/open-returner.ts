import type { Log } from '../author/context.ts'
import type { Returner, ReturnerPlugin } from '../author/returner.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import type { Fields } from '../base/record.ts'
import { hideSecrets, type Loader, withoutSecrets } from '../loader/index.ts'
import { returnerOptions } from './options.ts'
import type { OutboxTarget } from './outbox-target.ts'
import { checkedReturner } from './returner-members.ts'

export interface ReturnerHost {
  /** Loader of the kind `returners`. */
  readonly loader: Loader
  /** Configuration of the daemon. */
  readonly config: Fields
  /** Further sources of options after the configuration: grains and pillar of a minion. */
  readonly places?: readonly Fields[]
  /** Made by `maskingLog`, to mask the secret options of the returners. */
  readonly log: Log
}

/**
 * Open a returner with its options.
 * @throws SaltError FUNCTION_NOT_FOUND if there is no such returner, MODULE_FAILED if it is broken or cannot be opened,
 * CONFIG_INVALID with the name of an option that is wrong.
 */
export async function openConfiguredReturner(target: OutboxTarget, host: ReturnerHost): Promise<Returner> {
  const { plugin, options } = await prepared(target, host)
  const open = (name: string) => openConfiguredReturner({ name }, host)
  try {
    const made = await plugin.create({
      options,
      log: host.log,
      opts: host.config,
      id: String(host.config.id ?? ''),
      open,
    })
    return checkedReturner(target.name, made, host.log)
  } catch (error) {
    if (SaltError.is(error)) throw error
    throw new SaltError(
      'MODULE_FAILED',
      `The returner ${target.name} cannot be opened: ${withoutSecrets(host.log, messageOf(error))}`,
      { name: target.name },
    )
  }
}

/** Check a returner and its options without opening it. Rejects with the errors of {@link openConfiguredReturner}. */
export async function checkReturner(target: OutboxTarget, host: ReturnerHost): Promise<void> {
  await prepared(target, host)
}

async function prepared(
  target: OutboxTarget,
  { loader, config, places = [], log }: ReturnerHost,
): Promise<{ plugin: ReturnerPlugin; options: Record<string, unknown> }> {
  const { name, config: alternative, kwargs } = target
  const plugin = await loader.plugin<ReturnerPlugin>(name)
  const prefix = plugin.configKey ?? name
  const sources = { name, prefix, kwargs, config: alternative, places: [config, ...places] }
  const options = await returnerOptions(plugin.options ?? {}, sources)
  hideSecrets(log, options, plugin.options ?? {})
  return { plugin, options }
}
