import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { vectors } from '../harness/vectors.ts'
import { expectPublication, type Publication } from './recorded.ts'

interface Mode {
  mode: string
  master_options: { zmq_filtering?: boolean; sign_pub_messages?: boolean }
  messages: Publication[]
}

const generation2 = vectors<{ modes: Mode[] }>('publish')
const generation3 = vectors<{ publish: { modes: Mode[] } }>('generation-3')
const modes = [
  ...generation2.modes.map((mode) => ({ generation: 2, ...mode })),
  ...generation3.publish.modes.map((mode) => ({ generation: 3, ...mode })),
]

describe('publications recorded from Salt', () => {
  describe.each(modes)('generation $generation, $mode', ({ messages, master_options: options }) => {
    test.each(messages)(
      '$load_plain.fun of the scenario $scenario, serial $load_plain.serial',
      expectPublication,
    )

    test('they are signed exactly when the master signs', () => {
      const isSigned = options.sign_pub_messages ?? true
      expect(messages.every((message) => message.envelope_keys.includes('sig') === isSigned)).toBe(true)
    })
  })

  const filtering = modes.filter((mode) => mode.master_options.zmq_filtering)

  test.each(filtering)(
    'generation $generation, $mode: each has the topic of a minion, or one for all',
    ({ messages }) => {
      const topics = new Set(['broadcast', 'syndic', ...['wire1', 'wire2', 'nosuch'].map(sha1)])
      expect(messages.filter((message) => !topics.has(message.topic ?? ''))).toEqual([])
    },
  )
})

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}
