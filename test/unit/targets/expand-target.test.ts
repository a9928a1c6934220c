import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { expandTarget } from '../../../core/targets/index.ts'

let server: Server
let asked: string[]
beforeEach(async () => {
  asked = []
  server = createServer((request, response) => {
    asked.push(decodeURIComponent(request.url ?? ''))
    if (request.url?.endsWith('nosuch')) response.setHeader('RangeException', 'NO_CLUSTER')
    response.statusCode = request.url?.endsWith('broken') ? 500 : 200
    response.end(request.url?.endsWith('empty') ? '' : 'web01\nweb02\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

const expand = (tgt: unknown, tgt_type: string, config: Record<string, unknown> = {}) => {
  const range_server = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return expandTarget(
    { tgt, tgt_type },
    { config: { nodegroups: { web: 'web* and N@db', db: 'db*' }, range_server, ...config } },
  )
}

test('a range becomes the list of ids that the range server returns', async () => {
  expect(await expand('%web:ALL', 'range')).toEqual({ tgt: ['web01', 'web02'], tgt_type: 'list' })
  expect(asked).toEqual(['/range/list?%web:ALL'])
})

test('within a compound target, ranges and nodegroups become targets that every minion knows', async () => {
  expect(await expand('R@%web and not N@db or R@empty', 'compound')).toEqual({
    tgt: ['L@web01,web02', 'and', 'not', '(', 'db*', ')', 'or', 'L@,'],
    tgt_type: 'compound',
  })
})

test('a range server that is down, cannot be asked or returns an error is named', async () => {
  await expect(expand('%web', 'range', { range_server: '' })).rejects.toThrow('needs a range server')
  await expect(expand('%web', 'range', { range_server: '127.0.0.1:1' })).rejects.toThrow(
    '127.0.0.1:1 cannot be used',
  )
  await expect(expand('nosuch', 'range')).rejects.toThrow("refuses 'nosuch': NO_CLUSTER")
  await expect(expand('broken', 'range')).rejects.toThrow('HTTP status 500')
})

test.each([
  ['web* and', 'compound', 'malformed at character 9'],
  ['web* and E@(', 'compound', "'E@(': The regular expression '(' is not valid"],
  ['S@10.0.0.1/8 or web*', 'compound', 'an address inside a network'],
  ['N@nosuch', 'compound', "no nodegroup 'nosuch'"],
  ['(', 'pcre', 'is not valid'],
  ['os:(', 'grain_pcre', 'is not valid'],
  ['10.0.0.1/33', 'ipcidr', 'neither an IP address nor a network'],
  ['x', 'nosuch', "no target type 'nosuch'"],
])('%s as %s is refused before anything is sent', async (tgt, type, reason) => {
  await expect(expand(tgt, type)).rejects.toThrow(reason)
})

test('a nodegroup that is malformed is named', async () => {
  const nodegroups = { bad: 'web* or N@worse', worse: 'a b' }
  await expect(expand('bad', 'nodegroup', { nodegroups })).rejects.toThrow(
    "Nodegroup 'worse': The compound target is malformed at character 3",
  )
})
