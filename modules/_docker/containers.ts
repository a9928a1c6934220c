/** Containers as Docker has them, and changes of their state. */
import { CommandExecutionError, type Context } from 'salt-ts'
import { address, docker, dockerJson, filterText, ifAbsent, type Json } from './api.ts'
import { containerConfig } from './container-config.ts'
import { byId } from './describe.ts'
import { imageId } from './images.ts'
import { readOutput } from './output.ts'
import { pullImage } from './transfer.ts'

const STOP_SECONDS = 10

const pathOf = (name: string): string => address(['containers', name])

export const inspect = (name: string, context: Context): Promise<Json> =>
  dockerJson<Json>('GET', `${pathOf(name)}/json`, context)

export async function isThere(container: string, context: Context): Promise<boolean> {
  return (await inspect(container, context).catch(ifAbsent)) !== null
}

/** Return the containers by id. Docker says `Up 5 minutes` of those that run, also of paused ones. */
export async function containers(
  { all, filters }: { readonly all: boolean; readonly filters?: Json | undefined },
  context: Context,
): Promise<Record<string, Json>> {
  const path = address(['containers', 'json'], { all: true, filters: filterText(filters) })
  const found = await dockerJson<Json[]>('GET', path, context)
  const isRunning = ({ Status }: Json) => /^up /i.test(String(Status))
  return { ...byId(found.filter(isRunning)), ...(all && byId(found.filter((one) => !isRunning(one)))) }
}

export async function namesOfContainers(all: boolean, context: Context): Promise<string[]> {
  const found = Object.values(await containers({ all }, context))
  return [...new Set(found.flatMap(({ Names }) => ((Names as string[] | null) ?? []).map(plainName)))].sort()
}

export const plainName = (name: string): string => name.replace(/^\/+/, '')

export async function stateOf(name: string, context: Context): Promise<'running' | 'paused' | 'stopped'> {
  const { State } = (await inspect(name, context)) as { State?: { Paused?: boolean; Running?: boolean } }
  if (State?.Paused) return 'paused'
  return State?.Running ? 'running' : 'stopped'
}

export interface Changed {
  readonly result: boolean
  readonly state: { readonly old: string; readonly new: string | null }
  readonly comment?: string
}

export async function change(
  name: string,
  action: string,
  expected: string,
  context: Context,
): Promise<Changed> {
  const old = await stateOf(name, context)
  if (old === expected && !action.startsWith('restart')) {
    return {
      result: false,
      state: { old: expected, new: expected },
      comment: `Container '${name}' already ${expected}`,
    }
  }
  await docker('POST', `${pathOf(name)}/${action}`, context)
  // A container that removes itself is gone when it has stopped.
  const now = await stateOf(name, context).catch(() => null)
  return { result: now === expected, state: { old, new: now } }
}

export async function changeRunning(
  name: string,
  action: 'pause' | 'unpause',
  expected: string,
  context: Context,
): Promise<object> {
  const old = await stateOf(name, context)
  if (old !== 'stopped') return change(name, action, expected, context)
  return {
    result: false,
    state: { old, new: old },
    comment: `Container '${name}' is stopped, cannot ${action}`,
  }
}

export async function stopContainer(
  name: string,
  { timeout, unpause }: { readonly timeout?: number | undefined; readonly unpause: boolean },
  context: Context,
): Promise<object> {
  const old = await stateOf(name, context)
  if (old === 'paused' && !unpause) {
    const comment = `Container '${name}' is paused, run with unpause=True to unpause before stopping`
    return { result: false, state: { old, new: old }, comment }
  }
  if (old === 'paused') await change(name, 'unpause', 'running', context)
  const { Config } = (await inspect(name, context)) as { Config?: { StopTimeout?: number } }
  const wait = timeout ?? Config?.StopTimeout ?? STOP_SECONDS
  const { state, ...rest } = await change(name, `stop?t=${wait}`, 'stopped', context)
  return { ...rest, state: { ...state, old } }
}

export async function make(
  image: string,
  name: string | undefined,
  { inspect: isInspected = true, ...options }: Json,
  context: Context,
): Promise<Json & { readonly Id: string; readonly Name: string }> {
  const config = containerConfig(image, options)
  if (isInspected && (await imageId(image, context)) === false) await pullImage(image, false, context)
  const path = address(['containers', 'create'], { name })
  const made = await dockerJson<Json & { Id: string }>('POST', path, context, config)
  const given = name ?? plainName(String((await inspect(made.Id, context)).Name))
  return { ...made, Name: given }
}

/** Remove the container that has this name, if that is wanted. Return the ids that are gone. */
export async function makeRoom(
  name: string,
  { replace, force }: { replace: boolean; force: boolean },
  context: Context,
): Promise<string[]> {
  const state = await stateOf(name, context).catch(ifAbsent)
  if (state === null) return []
  if (state === 'running' && !(replace && force))
    throw new CommandExecutionError(
      `Container '${name}' exists and is running. Run with replace=True and force=True to force removal of the existing container.`,
    )
  if (!replace)
    throw new CommandExecutionError(
      `Container '${name}' exists. Run with replace=True to remove the existing container`,
    )
  const before = Object.keys(await containers({ all: true }, context))
  await docker('DELETE', address(['containers', name], { force }), context)
  return gone(before, context)
}

/** Follow what a container writes until it ends, and return that with its exit code. */
export async function ending(id: string, isRemoved: boolean, context: Context): Promise<Json> {
  const query = { follow: true, stdout: true, stderr: true }
  const Logs = readOutput(await docker('GET', address(['containers', id, 'logs'], query), context)).all
  if (isRemoved) return { Logs }
  const { State } = (await inspect(id, context)) as { State?: { Status?: string; ExitCode?: number } }
  const Warnings = State?.Status === 'exited' ? undefined : ["Container state is not 'exited'"]
  return { Logs, ExitCode: State?.ExitCode, ...(Warnings && { Warnings }) }
}

/** Return which of the containers are no longer there. */
export async function gone(before: readonly string[], context: Context): Promise<string[]> {
  const after = await containers({ all: true }, context)
  return before.filter((id) => !Object.hasOwn(after, id))
}
