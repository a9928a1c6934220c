import type { FastifyInstance, FastifyRequest } from 'fastify'
import { plainAddress } from '../../base/same-client.ts'
import { tags } from '../../events/index.ts'
import { FORM, readBody } from '../bodies.ts'
import { tokenOf } from '../identity.ts'
import { refusal } from '../problems.ts'
import type { ApiRoom } from '../room.ts'
import type { Readers } from './readers.ts'

const MAX_PATH = 512
/** What proves who the sender is does not go on the bus, where every reader sees it. */
const SECRET = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-auth-token'])

/** `POST /hook/<any/path>`: an event `salt/netapi/hook/<any/path>` with what was sent. */
export function hook(app: FastifyInstance, room: ApiRoom, { tokens }: Readers): void {
  const { settings, link, log } = room
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
        if (!open) await tokens.require(tokenOf(request, room))
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

/** @throws SaltError with status 400 for a path that is no tag */
function tagFor({ params }: FastifyRequest): string {
  const { '*': path = '' } = params as { '*'?: string }
  const words = path.split('/').filter((word) => word !== '')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  const isOdd = words.some((word) => word === '.' || word === '..' || /[\0-\x1f\x7f\ufffd]/.test(word))
  if (isOdd || path.length > MAX_PATH)
    throw refusal(
      400,
      `The path after the hook becomes the tag of an event: at most ${MAX_PATH} characters, none of them control characters, and no . or .. in it.`,
    )
  return tags.hook(words.join('/'))
}

/** As commands are read; nothing of a type that is not. @throws SaltError INVALID_ARGUMENTS, TOO_LARGE */
function parsed(body: string, contentType: string, largest: number): unknown {
  return body === '' ? {} : (readBody(contentType, body, largest) ?? {})
}

/** Named as CherryPy names them: `Content-Type`. */
function headersOf({ headers, ip }: FastifyRequest): Record<string, string> {
  const shown = Object.entries(headers).filter(([name]) => !SECRET.has(name))
  return Object.fromEntries([
    ...shown.map(([name, value]) => [titled(name), [value].flat().join(', ')]),
    ['Remote-Addr', plainAddress(ip)],
  ])
}

const titled = (name: string): string => name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())
