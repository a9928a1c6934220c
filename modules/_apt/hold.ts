import type { Context } from 'salt-ts'
import { type HoldResult, report } from '../_pkg/hold.ts'
import { readSelections, writeSelections } from './selections.ts'

/** Hold packages back from upgrades. */
export async function holdPackages(
  names: readonly string[],
  context: Context,
): Promise<Record<string, HoldResult>> {
  const results: Record<string, HoldResult> = {}
  for (const name of names) {
    const held = (await readSelections(name, context)).hold ?? []
    results[name] =
      held.length > 0
        ? report(name, true, `Package ${name} is already set to be held.`)
        : await setState(name, 'hold', ['is set to be held', 'is now being held'], context)
  }
  return results
}

/** Let held packages be upgraded again. */
export async function unholdPackages(
  names: readonly string[],
  context: Context,
): Promise<Record<string, HoldResult>> {
  const results: Record<string, HoldResult> = {}
  for (const name of names) {
    const states = await readSelections(name, context)
    if (Object.keys(states).length === 0) {
      results[name] = report(name, false, `Package ${name} does not have a state.`)
    } else {
      results[name] = states.hold
        ? await setState(name, 'install', ['is set not to be held', 'is no longer being held'], context)
        : report(name, true, `Package ${name} is already set not to be held.`)
    }
  }
  return results
}

async function setState(
  name: string,
  state: 'hold' | 'install',
  [wouldBe, is]: readonly [string, string],
  context: Context,
): Promise<HoldResult> {
  if (context.opts.test === true) return report(name, null, `Package ${name} ${wouldBe}.`)
  const { [name]: change } = await writeSelections({ [state]: [name] }, false, context)
  if (change) return report(name, true, `Package ${name} ${is}.`, change)
  return report(
    name,
    false,
    `dpkg did not set the state of package ${name} to ${state}; see the minion's log.`,
  )
}
