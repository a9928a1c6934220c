import { describe, expect, test } from 'vitest'
import { decode, decodeUntrusted, encodeLocal } from '../../core/codec/index.ts'
import { bytes, parseNote, vectors } from '../harness/vectors.ts'
import {
  bytesOf,
  expectEnvelope,
  expectFrame,
  expectPillar,
  expectSeal,
  expectSignature,
  type PillarSteps,
} from './recorded.ts'

interface Exchange {
  name: string
  request_b64: string | string[]
  request?: Record<string, unknown>
  request_plain?: Record<string, unknown>
  reply_b64?: string
  reply?: unknown
  reply_plain?: unknown
  reply_steps?: PillarSteps
}

interface Captured {
  scenario: string | null
  cmd: string
  frames_b64: [string, string]
  aes_key_string: string
  load_plain: Record<string, unknown>
  signed_bytes_b64?: string
}

const channel = vectors<{ aes_key_string: string; items: Exchange[] }>('request-channel')
const captured = vectors<{ items: Captured[] }>('minion-requests').items

describe('requests and replies recorded from a generation 2 master', () => {
  const items = channel.items
  const key = channel.aes_key_string
  const isAnswered = (item: Exchange) => item.reply_b64 !== undefined && item.reply_b64 !== null

  test.each(items.filter((item) => item.request))('the request $name is decoded as the file says', (item) => {
    expectFrame(frameOf(item), item.request)
  })

  test.each(items.filter((item) => item.request))(
    'the request $name fits the limits for unauthenticated peers',
    (item) => {
      expect(decodeUntrusted(frameOf(item))).toStrictEqual(decode(frameOf(item)))
    },
  )

  test.each(items.filter((item) => item.request_plain))('the load of $name opens', (item) => {
    const { load } = decode(frameOf(item)) as { load: Buffer }
    expectEnvelope(load, key, null, item.request_plain)
  })

  test.each(items.filter((item) => isAnswered(item) && !item.reply_steps))(
    'the reply to $name is decoded as the file says',
    (item) => {
      const reply = expectFrame(bytes(item.reply_b64 ?? ''), item.reply)
      if ('reply_plain' in item) expectEnvelope(reply, key, nonceOf(item), item.reply_plain)
    },
  )

  test.each(items.filter((item) => item.reply_steps))(
    'the pillar in the reply to $name is decrypted step by step',
    (item) => {
      const { reply_steps: steps, request_plain: request = {} } = item
      if (steps) expectPillar(bytes(item.reply_b64 ?? ''), steps, request)
    },
  )
})

describe('requests captured from generation 2 minions', () => {
  test.each(captured)('$cmd of the scenario $scenario', (item) => {
    expect(item.frames_b64[0]).toBe('')
    const envelope = expectFrame(bytes(item.frames_b64[1]), { enc: 'aes', load: '(load)', version: 2 })
    expectEnvelope((envelope as { load: Buffer }).load, item.aes_key_string, null, item.load_plain)
  })

  const withToken = captured.filter((item) => item.load_plain.tok)

  test.each(withToken)(
    'the token in $cmd of the scenario $scenario is that of its minion',
    ({ load_plain: load }) => {
      expectSeal(String(load.id), parseNote(load.tok), 'salt')
    },
  )

  const signed = captured.filter((item) => item.signed_bytes_b64)

  test.each(signed)('the signature of $cmd covers the load in the local dialect', (item) => {
    const { sig, nonce: _, ...load } = item.load_plain
    const covered = encodeLocal(parseNote(load))
    expect(covered.toString('base64')).toBe(item.signed_bytes_b64)
    expectSignature(String(load.id), covered, bytesOf(parseNote(sig)), 'PKCS1v15-SHA1')
  })
})

/** Salt looks at the first frame only. */
function frameOf(item: Exchange): Buffer {
  return bytes([item.request_b64].flat()[0] ?? '')
}

/** Replies below version 2 carry no nonce. */
function nonceOf({ request, request_plain: plain }: Exchange): string | undefined {
  return Number(request?.version ?? 0) >= 2 ? (plain?.nonce as string | undefined) : undefined
}
