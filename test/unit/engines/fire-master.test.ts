import { expect, test } from 'vitest'
import { fireMasterOn } from '../../../core/engines/fire-master.ts'

function engineOf(role: 'master' | 'minion') {
  const fired: [tag: string, data: object][] = []
  const bus = { fire: async (tag: string, data: object) => void fired.push([tag, data]) }
  return { fireMaster: fireMasterOn(bus, { role, id: 'web1' }), fired }
}

test.each(['salt/forbidden', 'salt/minion/web2/x', '_x'])(
  'an engine of a minion gets an error for the tag %s, which the master would drop',
  async (tag) => {
    const { fireMaster, fired } = engineOf('minion')
    await expect(fireMaster(tag, {})).rejects.toThrow(`Minions may not use the tag ${tag}.`)
    expect(fired).toEqual([])
  },
)

test.each(['shop/sold', 'salt/minion/web1/x'])('the minion sends an event %s to its master', async (tag) => {
  const { fireMaster, fired } = engineOf('minion')
  await fireMaster(tag, { n: 1 })
  expect(fired).toEqual([['fire_master', { tag, data: { n: 1 } }]])
})

test('an engine of a master may use every tag', async () => {
  const { fireMaster, fired } = engineOf('master')
  await fireMaster('salt/forbidden', { n: 1 })
  expect(fired).toEqual([['salt/forbidden', { n: 1 }]])
})
