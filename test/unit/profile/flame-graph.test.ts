import { expect, test } from 'vitest'
import { flameGraph, framesOf, type Profile } from '../../profile/flame-graph.ts'

const frame = (functionName: string) => ({ functionName, url: '', lineNumber: 0, columnNumber: 0 })

/** Node 3 and node 5 are the same function, called by the same one. */
const profile: Profile = {
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 4] },
    { id: 2, callFrame: frame('serve'), children: [3, 5] },
    { id: 3, callFrame: frame('read<T>') },
    { id: 4, callFrame: frame('(idle)') },
    { id: 5, callFrame: frame('read<T>') },
  ],
  samples: [2, 3, 4, 5, 3],
  timeDeltas: [100, 200, 5000, 300, 400],
}

const frames = framesOf(profile, ({ functionName }) => (functionName === '(idle)' ? undefined : functionName))

test('frames sum the samples of themselves and their callees, without frames that have no name', () => {
  expect(frames.total).toBe(1000)
  expect([...frames.callees.keys()]).toEqual(['serve'])
  expect(frames.callees.get('serve')).toMatchObject({ total: 1000 })
})

test('frames of the same name in the same caller are merged', () => {
  const callees = frames.callees.get('serve')?.callees
  expect([...(callees?.values() ?? [])]).toEqual([{ name: 'read<T>', total: 900, callees: new Map() }])
})

test('a flame graph gives each frame its share, and its full name as a tooltip', () => {
  const svg = flameGraph(frames, 'A & B')
  expect(svg).toContain('>A &amp; B</text>')
  expect(svg).toContain('<title>read&lt;T&gt;: 0.9 ms, 90.0 %</title>')
  expect(svg).toMatch(/<rect x="10.0" y="\d+" width="1242.0"/)
})
