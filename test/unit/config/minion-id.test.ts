import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { resolveMinionId } from '../../../core/config/minion-id.ts'
import { discoverMinionId, fqdnFromHosts } from '../../../core/config/minion-id-discovery.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const host = (name: string, fqdn?: string, addresses: string[] = []) => ({
  hostname: name,
  fqdn: () => fqdn,
  addresses: () => addresses,
})

describe('discovery', () => {
  test.each([
    ['a full host name', host('web1.example.com', 'other'), 'web1.example.com'],
    ['the full name of a short one', host('web1', 'web1.example.com'), 'web1.example.com'],
    ['the short name where there is no full one', host('web1'), 'web1'],
    ['the host name rather than a name of localhost', host('web1', 'localhost.localdomain'), 'web1'],
    [
      'an address where all names are of localhost',
      host('localhost', undefined, ['127.0.0.1', '10.0.0.5']),
      '10.0.0.5',
    ],
  ])('uses %s', (_, facts, id) => {
    expect(discoverMinionId(facts)?.id).toBe(id)
  })

  test('finds nothing on a host without name and address', () => {
    expect(discoverMinionId(host('localhost', undefined, ['127.0.0.1', '::1', 'fe80::1']))).toBe(undefined)
  })

  test('reads the full name from the line of the hosts file with the short one', () => {
    const hosts =
      '127.0.0.1 localhost\n127.0.1.1\tweb1.example.com web1 # here\n10.0.0.1 web2.example.com web2\n'
    expect(fqdnFromHosts('web1', hosts)).toBe('web1.example.com')
    expect(fqdnFromHosts('web3', hosts)).toBe(undefined)
    expect(fqdnFromHosts('localhost', hosts)).toBe(undefined)
  })
})

describe('resolution', () => {
  let dir: string
  beforeEach(async () => {
    dir = await temporaryFolder('salt-ts-id-')
  })
  afterEach(() => removeFolder(dir))

  const options = {
    id: '',
    append_domain: undefined,
    minion_id_caching: true,
    minion_id_lowercase: false,
    minion_id_remove_domain: false,
  } as const
  const found =
    (id: string, isAddress = false) =>
    () => ({ id, isAddress })

  test('shapes a name as configured', () => {
    const id = (settings: object) =>
      resolveMinionId({ ...options, minion_id_caching: false, ...settings }, dir, found('Web1.a.b')).id
    expect(id({ minion_id_lowercase: true })).toBe('web1.a.b')
    expect(id({ minion_id_remove_domain: true })).toBe('Web1')
    expect(id({ minion_id_remove_domain: ['x.y'] })).toBe('Web1.a.b')
    expect(id({ minion_id_remove_domain: ['a.b'], append_domain: 'c.d' })).toBe('Web1.c.d')
    expect(id({ id: 'db', append_domain: 'c.d' })).toBe('db.c.d')
  })

  test('leaves an address as it is', () => {
    expect(resolveMinionId({ ...options, append_domain: 'a.b' }, dir, found('10.0.0.1', true)).id).toBe(
      '10.0.0.1',
    )
  })

  test('caches no id without minion_id_caching', async () => {
    resolveMinionId({ ...options, minion_id_caching: false }, dir, found('web1'))
    await expect(readFile(join(dir, 'minion_id'))).rejects.toThrow('ENOENT')
  })

  test('warns if the id cannot be cached', () => {
    const { id, warnings } = resolveMinionId(options, join(dir, 'missing'), found('web1'))
    expect(id).toBe('web1')
    expect(warnings).toEqual([expect.stringContaining('may change')])
  })

  test('fails without an id, and asks to set one', () => {
    expect(() => resolveMinionId(options, dir, () => undefined)).toThrow('Set the option id')
  })
})
