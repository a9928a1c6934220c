import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a page may open a websocket: browsers let any page do so. Those of this server may, and those of the origins in
 * `cors_origin`; with `*` any page that knows a token. Programs other than browsers send no Origin.
 */
export function mayOpen({ origin, host }: IncomingHttpHeaders, allowed: readonly string[]): boolean {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return true
  return URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()
}
