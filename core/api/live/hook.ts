import type { FastifyInstance, FastifyRequest } from 'fastify'
import { plainAddress } from '../../base/net/same-client.ts'
import { tags } from '../../events/index.ts'
import { FORM, parseBody } from '../bodies.ts'
import type { ApiContext } from '../context.ts'
import { httpError } from '../http-errors.ts'
import { requiredToken } from '../identity.ts'
import type { Readers } from './readers.ts'

const MAX_PATH_LENGTH = 512
/** Headers with credentials do not go on the bus, where every reader of events sees them. */
const SECRET_HEADERS = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-auth-token'])

/** Add `POST /hook/<path>`, which fires the event `salt/netapi/hook/<path>` with the request. */
export function hook(app: FastifyInstance, context: ApiContext, { tokens }: Readers): void {
  const { settings, link, log } = context
  const { webhook_url, webhook_disable_auth: open } = settings
  if (open)
    log.warn(`webhook_disable_auth: anybody who reaches this server can fire ${tags.hook('')} events.`)
  const base = `/${webhook_url.replace(/^\/+|\/+$/g, '')}`
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      '*',
      { parseAs: 'string' },
      async (_request: FastifyRequest, body: string) => body,
    )
    for (const path of [base, `${base}/*`]) {
      scope.post(path, { config: { query: 'any', ...(open && { open }) } }, async (request) => {
        if (!open) await tokens.require(requiredToken(request, context))
        const body = String(request.body ?? '')
        const data = {
          body,
          post: parsed(body, request.headers['content-type'] ?? FORM, settings.max_request_body_size),
          headers: headersOf(request),
        }
        await link.events.fire(tagFor(request), data)
        return { success: true }
      })
    }
  })
}

/**
 * Return the tag for the path of a request.
 * @throws SaltError with status 400 for a path that cannot be a tag
 */
function tagFor({ params }: FastifyRequest): string {
  const { '*': path = '' } = params as { '*'?: string }
  const words = path.split('/').filter((word) => word !== '')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  const isOdd = words.some((word) => word === '.' || word === '..' || /[\0-\x1f\x7f\ufffd]/.test(word))
  if (isOdd || path.length > MAX_PATH_LENGTH)
    throw httpError(
      400,
      `The path after the hook becomes the tag of an event: at most ${MAX_PATH_LENGTH} characters, none of them control characters, and no . or .. in it.`,
    )
  return tags.hook(words.join('/'))
}

/**
 * Parse a body like that of a command; an empty map if its content type has no parser.
 * @throws SaltError INVALID_ARGUMENTS, TOO_LARGE
 */
function parsed(body: string, contentType: string, maxBytes: number): unknown {
  return body === '' ? {} : (parseBody(contentType, body, maxBytes) ?? {})
}

/** Return the headers under CherryPy's names, such as `Content-Type`, without those that hold credentials. */
function headersOf({ headers, ip }: FastifyRequest): Record<string, string> {
  const shown = Object.entries(headers).filter(([name]) => !SECRET_HEADERS.has(name))
  return Object.fromEntries([
    ...shown.map(([name, value]) => [titled(name), [value].flat().join(', ')]),
    ['Remote-Addr', plainAddress(ip)],
  ])
}

const titled = (name: string): string => name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())
