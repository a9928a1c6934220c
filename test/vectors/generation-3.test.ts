import { describe, expect, test } from 'vitest'
import { decode, decodeUntrusted, encodeLocal } from '../../core/codec/index.ts'
import { SymmetricKey } from '../../core/crypto/index.ts'
import { bytes, parseNote, vectors } from '../harness/vectors.ts'
import {
  bytesOf,
  expectEnvelope,
  expectFrame,
  expectPillar,
  expectPublication,
  expectSeal,
  expectSignature,
  expectSignIn,
  type PillarSteps,
  type Publication,
  publicKeyOf,
  type SignIn,
} from './recorded.ts'

type Note = Record<string, unknown>

/** Any request: clear (`request`) or encrypted (`envelope` and `request_plain` under the key `key_string`). */
interface Exchange {
  name?: string
  summary?: string
  capture?: string
  scenario?: string | null
  cmd?: string
  request_b64: string
  request?: Note
  envelope?: Note
  request_key?: string
  key_string?: string
  request_plain?: unknown
  reply_b64: string | null
  reply?: unknown
  reply_key?: string | null
  reply_nonce?: string | null
  reply_plain?: unknown
  reply_steps?: PillarSteps
  signed_bytes_b64?: string
  signed_part?: string
  worker_lost?: boolean
}

interface RequestSet {
  set: string
  aes_key_string: string
  session_key_strings: Record<string, string>
  items: Exchange[]
}

type Step = Exchange | SignIn | Publication

interface Generation3 {
  minion_requests: Exchange[]
  request_sets: RequestSet[]
  client_publish: Exchange[]
  recovery: { title: string; steps: Step[] }[]
  older_minion: Step[]
  older_master: Step[]
  session_files: { when: string; files?: { name: string; size: number; content: string }[] }[]
}

const file = vectors<Generation3>('generation-3')

describe('generation 3, recorded from Salt', () => {
  test.each(file.minion_requests)('a minion asks: $cmd of the scenario $scenario, $capture', (item) => {
    expectExchange(item, item.key_string ?? '')
    expectToken(item)
  })

  const signed = file.minion_requests.filter((item) => item.signed_bytes_b64)

  test.each(signed)('the signature of $cmd ($capture, $scenario) covers $signed_part', (item) => {
    const left = item.signed_part?.replace('all but ', '').split(', ') ?? []
    const load = parseNote(item.request_plain) as Note
    const covered = encodeLocal(
      Object.fromEntries(Object.entries(load).filter(([key]) => !left.includes(key))),
    )
    expect(covered.toString('base64')).toBe(item.signed_bytes_b64)
    expectSignature(String(load.id), covered, load.sig, 'PKCS1v15-SHA1')
  })

  describe.each(file.request_sets)('the requests of the set $set', (set) => {
    test.each(set.items)('$name', (item) => {
      const name = item.request_key?.replace('session:', '') ?? ''
      expectExchange(item, set.session_key_strings[name] ?? set.aes_key_string)
    })
  })

  const forged = file.request_sets[0]!.items.filter((item) =>
    /tok-(nil|zeros|short|other)/.test(item.name ?? ''),
  )

  test.each(forged)('$name: the token is not accepted', (item) => {
    const { id, tok } = parseNote(item.request_plain) as Note
    expect(publicKeyOf(String(id)).recover(bytesOf(tok ?? ''))).toBeUndefined()
  })

  test.each(file.client_publish)('the command line asks: $scenario', (item) => expectExchange(item, ''))

  describe.each(file.recovery)('$title', ({ steps }) => {
    test.each(steps)('$scenario: $summary', expectStep)
  })

  test.each(file.older_minion)('a generation 2 minion, $scenario: $summary', expectStep)

  test.each(file.older_master)('a generation 2 master, $scenario: $summary', expectStep)

  const sessions = file.session_files.flatMap(({ when, files }) =>
    (files ?? []).map((kept) => ({ when, ...kept })),
  )
  const shown = sessions.filter(({ content }) => !content.startsWith('('))

  test.each(shown)('the session file of $name is a key without line end ($when)', ({ size, content }) => {
    expect(SymmetricKey.parse(content).text).toHaveLength(size)
  })
})

function expectStep(step: Step): void {
  if ('frames_b64' in step) expectPublication(step)
  else if ('signed_load' in step) expectSignIn(step as SignIn)
  else expectExchange(step as Exchange, (step as Exchange).key_string ?? '')
}

function expectExchange(item: Exchange, key: string): void {
  const frame = bytes(item.request_b64)
  expect(decodeUntrusted(frame)).toStrictEqual(decode(frame))
  expectRequest(item, frame, key)
  if (item.reply_b64 !== null) expectReply(item, bytes(item.reply_b64), key)
}

/** Requests that do not open have the whole envelope in `request`, or say where they came from. */
function expectRequest(item: Exchange, frame: Buffer, key: string): void {
  if (item.request) return void expectFrame(frame, item.request)
  if (!item.envelope) return
  const { load, ...envelope } = decode(frame) as Note
  expect(envelope).toStrictEqual(parseNote(item.envelope))
  expectFrame(frame, { ...item.envelope, load: '(encrypted)' })
  if ('request_plain' in item) expectEnvelope(load, key, null, item.request_plain)
}

function expectReply(item: Exchange, frame: Buffer, key: string): void {
  if (item.reply_steps)
    expectPillar(frame, item.reply_steps, item.request_plain as Note, item.envelope?.enc_algo)
  else expectResult(item, frame, key)
}

function expectResult(item: Exchange, frame: Buffer, key: string): void {
  const reply = expectFrame(frame, item.reply ?? '(encrypted bytes)')
  if (item.reply_key) expectEnvelope(reply, key, item.reply_nonce, item.reply_plain)
}

function expectToken({ request_plain: load }: Exchange): void {
  const { id, tok } = parseNote(load) as Note
  expectSeal(String(id), tok, 'salt')
}
