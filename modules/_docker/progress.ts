/** What Docker reports while it moves or builds images. */
import type { Json } from './api.ts'

export function pulled(
  events: readonly Json[],
  before: readonly string[],
): Json & { readonly retcode: number } {
  const old = new Set<string>()
  const fresh = new Set<string>()
  let Status: string | undefined
  const Errors: string[] = []
  for (const { id, status, errorDetail } of events as readonly { [key: string]: string }[]) {
    if (errorDetail) Errors.push(errorText(errorDetail))
    else if (status === 'Already exists') old.add(id!)
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

export function errorText(detail: unknown): string {
  const { code, message } = detail as { code?: number | string; message?: string }
  return code === undefined ? String(message) : `${code}: ${message}`
}
