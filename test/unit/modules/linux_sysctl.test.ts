import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as sysctl from '../../../modules/linux_sysctl.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { hostContext, stubPrograms } from './_host/context.ts'
import { type AnyFn, call } from './context.ts'

const ask = (which: AnyFn, given: Record<string, unknown> = {}) => call(which, given, hostContext())
let folder: string
let config: string

// The stub prints what sysctl would, and changes nothing.
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-sysctl-')
  config = join(folder, 'd', 'salt.conf')
  await stubPrograms(folder, {
    sysctl: `case "$1" in -n) echo 10;; -a) printf 'a.b = 1\\nc = 2\\t3\\n';; -w) echo "$3" | sed 's/=/ = /';; esac`,
  })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

describe('sysctl (stub)', () => {
  test('show reads the kernel, or a file', async () => {
    expect(await ask(sysctl.show)).toEqual({ 'a.b': '1', c: '2\t3' })
    config = join(folder, 'conf')
    await writeFile(config, '# c = 1\nvm.swappiness = 10\nkernel.x=1 2\n')
    expect(await ask(sysctl.show, { config_file: config })).toEqual({
      'vm.swappiness': '10',
      'kernel.x': '1 2',
    })
    expect(await ask(sysctl.show, { config_file: '/none' })).toEqual([])
  })

  test.each(['vm.swappiness\nkernel.core_pattern', 'x = 1 #', '-w'])(
    'persist refuses the name %j',
    async (name) => {
      await expect(ask(sysctl.persist, { name, value: 1, config })).rejects.toThrow(
        'is not the name of a parameter',
      )
      await expect(readFile(config)).rejects.toThrow('ENOENT')
    },
  )

  test('assign sets a parameter that exists', async () => {
    expect(await ask(sysctl.assign, { name: 'vm.swappiness', value: 20 })).toEqual({ 'vm.swappiness': '20' })
    await expect(ask(sysctl.assign, { name: 'no.such', value: 1 })).rejects.toThrow(
      'sysctl no.such does not exist',
    )
  })

  test('persist writes the file once, and keeps its other lines', async () => {
    const given = { name: 'vm.swappiness', value: '20', config }
    expect(await ask(sysctl.persist, given)).toBe('Updated')
    expect(await readFile(config, 'utf8')).toBe('#\n# Kernel sysctl configuration\n#\nvm.swappiness = 20\n')
    expect(await ask(sysctl.persist, { ...given, value: '10' })).toBe('Updated')
    expect(await ask(sysctl.persist, { ...given, value: 10 })).toBe('Already set')
    expect(await readFile(config, 'utf8')).toContain('#\nvm.swappiness = 10\n')
    await expect(ask(sysctl.persist, { ...given, value: '1\nkernel.x = 2' })).rejects.toThrow('line break')
  })
})
