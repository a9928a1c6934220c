/** Files of an audit log that were tampered with: how writing continues, and what verify reports. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { appendToChain, type ChainEnd } from '../../../../core/auth/audit/file.ts'
import { verifyAudit } from '../../../../core/auth/audit/index.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'

let folder: string
let path: string
/** As the writers know it. */
let end: ChainEnd | undefined

beforeEach(async () => {
  folder = await temporaryFolder('salt-audit-tampering-')
  path = join(folder, 'audit.log')
  end = undefined
})
afterEach(() => removeFolder(folder))

function append(count: number): void {
  const entry = { act: 'publish', verdict: 'allowed', user: 'root' } as const
  const time = new Date().toISOString()
  end = appendToChain(path, end, Array(count).fill({ time, entry }))
}

const text = () => readFile(path, 'utf8')
const lines = async () => (await text()).split('\n').slice(0, -1)
const read = async () => (await lines()).map((line) => JSON.parse(line) as Record<string, unknown>)
const verify = () => verifyAudit(path, end)

async function edit(change: (lines: string[]) => string[]): Promise<void> {
  await writeFile(
    path,
    change(await lines())
      .map((line) => `${line}\n`)
      .join(''),
  )
}

const replaced = (index: number, change: (line: string) => string) =>
  edit((all) => all.map((line, at) => (at === index ? change(line) : line)))

/** With a hash that fits, as who knows how lines are made can give it. */
function hashed(members: object): string {
  const body = JSON.stringify(members).replaceAll('":', '": ').replaceAll(',"', ', "')
  return `${body.slice(0, -1)}, "hash": "${createHash('sha256').update(body).digest('hex')}"}`
}

describe('writing', () => {
  test('follows no link', async () => {
    const target = join(folder, 'precious')
    await writeFile(target, 'precious\n')
    await symlink(target, path)
    expect(() => append(1)).toThrow('ELOOP')
    expect(await readFile(target, 'utf8')).toBe('precious\n')
  })

  test('goes to a regular file only', () => {
    execFileSync('mkfifo', [path])
    expect(() => append(1)).toThrow('it is not a file')
  })

  test('detects another file of the same size, and logs that its content is foreign', async () => {
    append(2)
    const other = join(folder, 'other')
    await writeFile(other, `${'x'.repeat((await text()).length - 1)}\n`)
    await rename(other, path)
    append(1)
    expect((await lines()).slice(1).map((line) => JSON.parse(line))).toMatchObject([
      { seq: 3, act: 'log', reason: 'The content before this line was not written by this log.' },
      { seq: 4 },
    ])
  })

  test('continues after the last whole line if the end of the chain was lost', async () => {
    append(3)
    await replaced(2, (line) => line.replace('"seq": 3', '"seq": 900'))
    end = undefined
    append(1)
    const [, second, , next] = await read()
    expect(next).toMatchObject({ seq: 3, prev: second?.hash })
  })

  test('leaves a large file without lines as it is', async () => {
    await writeFile(path, 'x'.repeat(1_100_000))
    expect(() => append(1)).toThrow('so it is not an audit log. Move it away')
    expect(await text()).toHaveLength(1_100_000)
  })
})

describe('verify', () => {
  const problems = async () => (await verify()).problems

  test('reads rotated files in the order of their lines, and no other files', async () => {
    for (const name of ['audit.log.2', 'audit.log.1']) {
      append(2)
      await rename(path, join(folder, name))
    }
    append(2)
    await copyFile(path, `${path}~`)
    await copyFile(path, `${path}s`)
    await writeFile(`${path}.README`, 'No line of a log.\n')
    expect(await verify()).toMatchObject({
      valid: true,
      lines: 6,
      notes: [],
      files: { [`${path}.2`]: 2, [`${path}.1`]: 2, [path]: 2 },
    })
  })

  test('names a file that cannot be read, from its beginning or from some position on', async () => {
    append(1)
    await mkdir(`${path}.1`)
    await writeFile(`${path}.2.gz`, 'not packed')
    expect(await problems()).toEqual([
      expect.stringContaining('audit.log.1 cannot be read: '),
      expect.stringContaining('audit.log.2.gz cannot be read: '),
    ])
  })

  test('does not count a text without a line break as a line', SLOW, async () => {
    append(1)
    await writeFile(path, `${await text()}${'x'.repeat(5_000_000)}`)
    expect((await problems())[0]).toBe(`${path} line 2 is not a line of an audit log.`)
  })

  test('reports a missing end of the last line of a rotated file', async () => {
    append(2)
    await writeFile(`${path}.1`, (await text()).slice(0, -20))
    await rm(path)
    append(1)
    expect(await problems()).toEqual([`${path}.1 line 2 is not a line of an audit log.`])
  })

  test('reports a line that was inserted before one with the same number, and not the lines after it', async () => {
    append(3)
    const [first] = await read()
    const forged = hashed({ seq: 2, time: '', act: 'publish', prev: first?.hash })
    await edit(([one = '', ...rest]) => [one, forged, ...rest])
    expect(await problems()).toEqual([expect.stringContaining('line 3 (seq 2) is out of place')])
  })

  test('reports a replaced line once, and how many more are missing there', async () => {
    append(5)
    await replaced(1, () => 'I was here')
    const here = `${path} line 2 is not a line of an audit log.`
    expect(await problems()).toEqual([here])
    await edit((all) => all.filter((_, index) => index !== 2))
    expect(await problems()).toEqual([here, `Before ${path} line 3 (seq 4), lines seq 2 to 3 are missing.`])
  })

  test('reports a line whose number was changed, and not the lines after it', async () => {
    append(3)
    await replaced(1, (line) => line.replace('"seq": 2', '"seq": 50'))
    expect(await problems()).toEqual([expect.stringContaining('line 2 (seq 50) was changed')])
  })

  test.each<[string, string]>([
    ['a number that is text', hashed({ seq: '2', prev: '' })],
    ['nothing before it', hashed({ seq: 2 })],
    ['no JSON', `x, "hash": "${'0'.repeat(64)}"}`],
  ])('does not count %s as a line', async (_, line) => {
    append(3)
    await replaced(1, () => line)
    expect(await problems()).toEqual([`${path} line 2 is not a line of an audit log.`])
  })
})
