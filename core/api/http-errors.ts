/** Answers for errors: HTTP status, and Salt's body `{status, return}`. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../base/error-codes.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { jsonText } from '../dialect/json.ts'
import type { ApiContext } from './context.ts'
import { auditDenial } from './denials.ts'
import { SECURITY_HEADERS } from './live/security-headers.ts'

const STATUS: ReadonlyMap<ErrorCode, number> = new Map([
  ['AUTHENTICATION_FAILED', 401],
  ['AUTHORIZATION_FAILED', 403],
  ['CALL_REFUSED', 400],
  ['CANCELLED', 503],
  ['DECODE_FAILED', 502], // the answer of the master cannot be decoded
  ['ENCODE_FAILED', 400],
  ['FUNCTION_NOT_FOUND', 400],
  ['ID_INVALID', 400],
  ['INVALID_ARGUMENTS', 400],
  ['INVOCATION', 400],
  ['KEY_INVALID', 400],
  ['LOCKED_OUT', 429],
  ['MASTER_UNREACHABLE', 503],
  ['TARGET_INVALID', 400],
  ['TIMEOUT', 504],
  ['TOO_LARGE', 413],
])

/** Create an error with an HTTP status that has no error code of its own. */
export const httpError = (status: number, message: string, data: object = {}): SaltError =>
  new SaltError('INVOCATION', message, { ...data, status })

/** Return the status of an error; 500 for unexpected ones, whose message goes to the log only. */
function statusOf(error: unknown): number {
  if (SaltError.is(error)) {
    const { status } = error.data
    return typeof status === 'number' ? status : (STATUS.get(error.code) ?? 500)
  }
  const { statusCode } = error as Partial<FastifyError>
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? statusCode : 500
}

interface ProblemBody {
  readonly status: number
  readonly return: string
  /** The rule that refused the request. */
  readonly rule?: string
}

function bodyOf(error: unknown): ProblemBody {
  const status = statusOf(error)
  if (status === 500) return { status, return: 'An unexpected error occurred' }
  const { rule } = SaltError.is(error) ? error.data : {}
  return { status, return: sentenceOf(error), ...(typeof rule === 'string' && { rule }) }
}

export const MASTER_NOT_ANSWERING = 'The master does not answer. The log of this server says why.'

/**
 * Return the sentence for the client. A refusal of the master comes with its reason, without the advice for terminal
 * users. Why the master cannot be reached stays hidden: files, sockets and ports of its host are not for strangers.
 */
function sentenceOf(error: unknown): string {
  const { said, reason, jid } = SaltError.is(error) ? error.data : {}
  if (SaltError.is(error) && error.code === 'MASTER_UNREACHABLE' && typeof reason !== 'string')
    return typeof jid === 'string'
      ? `${MASTER_NOT_ANSWERING} What was started is at /jobs/${jid}.`
      : MASTER_NOT_ANSWERING
  if (typeof said !== 'string') return messageOf(error)
  return typeof reason === 'string' ? `${said} ${reason}` : said
}

/** Create the only error handler of the server. */
export function errorHandler(context: ApiContext) {
  const { log } = context
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const body = bodyOf(error)
    if (body.status === 500)
      log.error(`${request.method} ${pathOf(request)} failed: ${messageOf(error)}`, { error })
    else log.info(`${request.method} ${pathOf(request)} is answered ${body.status}: ${messageOf(error)}`)
    auditDenial(context, request, error)
    const { retry_after } = SaltError.is(error) ? error.data : {}
    if (typeof retry_after === 'number') reply.header('Retry-After', String(retry_after))
    if (body.status === 401) reply.header('WWW-Authenticate', 'Session')
    reply.removeHeader('content-type').code(body.status).send(body)
  }
}

/** Create the handler of unknown paths (404) and methods (405), and of OPTIONS, by which load balancers probe. */
export function notFoundHandler(app: FastifyInstance) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const path = pathOf(request)
    const { method } = request
    const methods = (['GET', 'POST'] as const).filter((each) => app.findRoute({ method: each, url: path }))
    if (methods.length === 0) throw httpError(404, `There is nothing at ${path}.`)
    if (method === 'OPTIONS') {
      reply
        .code(204)
        .header('Allow', [...methods, method].join(', '))
        .send()
      return
    }
    reply.header('Allow', methods.join(', '))
    throw httpError(405, `${path} takes ${methods.join(' and ')}, but not ${method}.`)
  }
}

/** Return the path without parts that may hold a token: the query, and the end of websocket paths. */
const pathOf = ({ url }: FastifyRequest): string =>
  url.replace(/\?.*/s, '').replace(/((?:^|\/)(?:ws|all_events|formatted_events)\/).+/, '$1…')

/** Answer a request whose path cannot be decoded: it reaches no route and no hook. */
export function answerUnreadableUrl(error: FastifyError, _: FastifyRequest, reply: FastifyReply): void {
  const { statusCode: status = 400 } = error
  const sentence =
    'The path of the request cannot be read: a % must begin two hexadecimal digits of a character in UTF-8.'
  const body = { status, return: error.code === 'FST_ERR_BAD_URL' ? sentence : error.message }
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) reply.raw.setHeader(name, value)
  reply.raw.writeHead(status, { 'content-type': 'application/json' }).end(jsonText(body))
}
