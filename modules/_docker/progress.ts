/** Reads the events that Docker sends while it moves or builds images. */
import type { Json } from './api.ts'

export function pulled(
  events: readonly Json[],
  before: readonly string[],
): Json & { readonly retcode: number } {
  const old = new Set<string>()
  const fresh = new Set<string>()
  let Status: string | undefined
  const Errors = errorsIn(events)
  for (const { id, status } of events as readonly { [key: string]: string }[]) {
    if (status === 'Already exists') old.add(id!)
    else if (status === 'Pull complete') fresh.add(id!)
    else if (status === 'Download complete') (before.includes(id!) ? old : fresh).add(id!)
    else if (status?.startsWith('Status: ')) Status = status.slice('Status: '.length)
  }
  const Layers = {
    ...(old.size > 0 && { Already_Pulled: [...old] }),
    ...(fresh.size > 0 && { Pulled: [...fresh] }),
  }
  return {
    retcode: Errors.length > 0 ? 1 : 0,
    ...(old.size + fresh.size > 0 && { Layers }),
    ...(Status !== undefined && { Status }),
    ...(Errors.length > 0 && { Errors }),
  }
}

/** Return what a push has moved: the layers that are new in the registry, those that were there, and errors. */
export function pushed(events: readonly Json[]): Json & { readonly retcode: number } {
  const old: string[] = []
  const fresh: string[] = []
  for (const { id, status } of events as readonly { [key: string]: string }[]) {
    const text = String(status ?? '').toLowerCase()
    if (id === undefined) continue
    if (text.includes('already pushed') || text.includes('already exists')) old.push(id)
    else if (text === 'pushed' || text.includes('successfully pushed')) fresh.push(id)
  }
  const Layers = {
    ...(old.length > 0 && { Already_Pushed: old }),
    ...(fresh.length > 0 && { Pushed: fresh }),
  }
  const Errors = errorsIn(events)
  return {
    retcode: Errors.length > 0 ? 1 : 0,
    ...(old.length + fresh.length > 0 && { Layers }),
    ...(Errors.length > 0 && { Errors }),
  }
}

/** Return the errors among events. */
export const errorsIn = (events: readonly Json[]): string[] =>
  events.flatMap(({ errorDetail, error }) => {
    if (errorDetail) return [errorText(errorDetail)]
    return error ? [String(error)] : []
  })

/** Return the message for a failure, with the errors among events. */
export function failureText(failure: string, events: readonly Json[]): string {
  const errors = errorsIn(events)
  return errors.length > 0 ? `${failure}. Error(s) follow:\n\n${errors.join('\n\n')}` : failure
}

function errorText(detail: unknown): string {
  const { code, message } = detail as { code?: number | string; message?: string }
  return code === undefined ? String(message) : `${code}: ${message}`
}
