import { expect, test } from 'vitest'
import { minionEventHandler } from '../../../../core/master/handlers/minion-event.ts'
import { eventually } from '../../../harness/until.ts'

test('a minion start is fired, and a catalogue that cannot be asked for again is logged', async () => {
  const fired: string[] = []
  const logged: string[] = []
  const context = {
    replays: { firstTime: async () => true },
    syndics: { mayBe: () => false, is: () => false },
    catalogues: { askAgain: async () => Promise.reject(new Error('ENOSPC')) },
    log: { warn: (message: string) => logged.push(message) },
    fire: (tag: string) => fired.push(tag),
  }
  const handle = minionEventHandler(context as never)
  const load = { cmd: '_minion_event', id: 'web1', tag: 'salt/minion/web1/start', data: {} }
  await handle(load as never, { id: 'web1', verified: true, fingerprint: 'f' } as never)
  await eventually(() => expect(logged).toEqual([expect.stringContaining('ENOSPC')]))
  expect(fired).toEqual(['salt/minion/web1/start'])
})
