/** Bodies of requests to salt-api: each is read or refused with a sentence, and no request ends in an unexpected error. */
import type { FastifyInstance } from 'fastify'
import { FORM, parseBody } from '../../../core/api/bodies.ts'
import { readLowstate } from '../../../core/api/chunk.ts'
import { tags } from '../../../core/events/index.ts'
import { recordingLog } from '../../../core/testing/recording-log.ts'
import { openTestApi } from '../../harness/test-api.ts'
import { must, outcomeOf, type Target } from '../target.ts'

const MAX_BYTES = 20_000
const types = [
  'application/json',
  'application/x-yaml',
  FORM,
  'text/plain',
  'text/xml',
  'application/json; charset=utf-8',
]
const JID = '20261122010203000004'
const TOKEN = 'ab'.repeat(32)

/** Where an input is sent. By its first byte most are only parsed, since a request takes ten times as long. */
const routes = [
  '/',
  '/run',
  '/login',
  '/token',
  '/minions',
  '/keys',
  '/hook/a/b',
  '/logout',
  '/jobs',
  '/nosuch',
] as const
const WAYS = 64

const chunks = [
  { client: 'local', tgt: '*', fun: 'test.ping', arg: [], kwarg: { a: 1 }, full_return: true },
  {
    client: 'local_async',
    tgt: ['m1', 'm2'],
    tgt_type: 'list',
    fun: ['test.arg', 'test.echo'],
    arg: [['a'], ['b']],
  },
  { client: 'local_batch', tgt: '*', fun: 'test.ping', batch: '50%', timeout: 1, metadata: { a: 'b' } },
  { client: 'runner', fun: 'jobs.list_jobs', search_metadata: { a: 1 }, ret_kwargs: {} },
  { client: 'wheel_async', fun: 'key.list', match: 'all' },
  { eauth: 'pam', username: 'fred', password: 'x', token: 'x' },
  { mid: 'm9', keysize: 2048, force: true, auto: 3.5, big: 2 ** 60 },
]
const yaml = 'client: local\ntgt: "*"\nfun: test.ping\narg: &a [1, {b: 2.0}]\nkwarg: {x: *a}\n'
const form = 'client=local&tgt=*&fun=test.arg&arg=1&arg=[a,b]&kwarg={a: 1}&full_return=true'

const seeds = [
  ...chunks.flatMap((chunk, index) => [
    seed(index, 0, JSON.stringify([chunk])),
    seed(20 + index, 3, JSON.stringify(chunk)),
  ]),
  ...routes.map((_, index) => seed(index, 0, JSON.stringify(chunks[index % chunks.length]))),
  ...[0, 20, 21, 22].flatMap((way) => [
    seed(way, 1, yaml),
    seed(way, 2, form),
    seed(way, 1, '- a\n- b: [c]\n'),
  ]),
  ...[
    '{"__proto__": {"a": 1}}',
    '{"constructor": {"prototype": {}}}',
    '[[[[]]]]',
    'null',
    '"x"',
    '{"a": 1e999, "b": -0.0}',
  ].map((text) => seed(20, 0, text)),
]

function seed(way: number, type: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([way, type]), Buffer.from(text)])
}

const words = [
  '"',
  '\\u0000',
  '\\ud800',
  '{"a": ',
  '[',
  ']',
  '}',
  ', ',
  ': ',
  '&',
  '=',
  '%00',
  '%ff',
  '%',
  '+',
  'arg=',
  'kwarg=',
  'null',
]
const members = [
  '"client"',
  '"tgt"',
  '"fun"',
  '"arg"',
  '"tgt_typ"',
  '"__proto__"',
  '"constructor"',
  '"prototype"',
  '"token"',
  '"eauth"',
]
const values = [
  '"runner"',
  '"local"',
  '"wheel"',
  '1e400',
  '9007199254740993',
  '3.0',
  '-',
  'true',
  '"*"',
  '- ',
  '&a ',
  '*a',
  '<<: ',
]

export default async (): Promise<Target> => {
  const failures: string[] = []
  const log = recordingLog((level, message) => {
    if (level === 'error') failures.push(message)
  })
  const limits = { max_request_body_size: MAX_BYTES, max_chunks: 10 }
  const api = await openTestApi({ timeout: 1, gather_job_timeout: 1 }, limits, log)
  api.answer = (load) => answerTo(load, (tag, data) => api.fire(tag, data))

  async function run(input: Buffer): Promise<string> {
    const way = (input[0] ?? 0) % WAYS
    const type = types[(input[1] ?? 0) % types.length] as string
    const body = input.subarray(2)
    const url = routes[way]
    return url === undefined ? parsed(type, body.toString()) : requested(api.app, url, type, body)
  }

  return {
    form: 'json',
    choices: [WAYS, types.length],
    words: [...words, ...members, ...values],
    seeds,
    run,
    atOnce: 8,
    patienceMs: 60_000,
    check: () => {
      const shown = failures.splice(0)
      for (const list of [api.asked, api.vias, api.refused]) list.length = 0
      must(shown.length === 0, shown.join('\n'))
    },
    close: () => api.close(),
  }
}

function parsed(type: string, text: string): string {
  return outcomeOf(() => {
    const body = parseBody(type, text, MAX_BYTES)
    const chunks = readLowstate(body, text.length % 2 === 0 ? 'local' : undefined)
    must(
      chunks.every((chunk) => Object.getPrototypeOf(chunk) === Object.prototype),
      'A chunk has another prototype',
    )
    return `${type} chunks`
  }, ['INVALID_ARGUMENTS', 'TOO_LARGE'])
}

async function requested(app: FastifyInstance, url: string, type: string, payload: Buffer): Promise<string> {
  const headers = { 'content-type': type, 'x-auth-token': TOKEN }
  const { statusCode, body } = await app.inject({ method: 'POST', url, payload, headers })
  must(statusCode !== 500, `${url} is answered ${statusCode}: ${body}`)
  if (statusCode >= 400)
    must(typeof JSON.parse(body).return === 'string', `${url} is refused without a sentence: ${body}`)
  return `${url} ${statusCode}`
}

type Load = Readonly<Record<string, unknown>>

/** A master that knows the token, and whose minions and runners answer at once. */
function answerTo(load: Load, fire: (tag: string, data: object) => void): unknown {
  const { cmd, fun } = load
  if (cmd === 'get_token') return { name: 'fred', expire: Date.now() / 1000 + 60 }
  if (cmd === 'mk_token') return { token: TOKEN, name: 'fred', expire: 1, start: 0, eauth: 'pam' }
  if (cmd === 'publish') {
    for (const id of ['m1', 'm2'])
      fire(tags.jobReturn(JID, id), { id, jid: JID, fun, return: load.arg, retcode: 0, success: true })
    return { enc: 'clear', load: { jid: JID, minions: ['m1', 'm2'], missing: [] } }
  }
  const data = { fun: `${cmd}.${fun}`, jid: JID, user: 'fred', return: load.kwarg ?? null, success: true }
  if (cmd === 'runner') fire(tags.runReturn(JID), data)
  return cmd === 'runner' ? { tag: tags.run(JID), jid: JID } : { tag: tags.wheel(JID), data }
}
