/** `salt-cp` copies files of this host to minions. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'

let cluster: Cluster
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder()
  cluster = await Cluster.open({
    master: { salt_cp_chunk_size: 1000, timeout: 3, gather_job_timeout: 1 },
  })
  await Promise.all(['web1', 'web2'].map((id) => cluster.addMinion(id)))
})
afterAll(async () => {
  await cluster?.close()
  await removeFolder(folder)
})

const at = (...path: string[]) => join(folder, ...path)
const copy = async (...words: string[]) => {
  const { code, stdout, stderr } = await cluster.command('salt-cp', ...words, '--out', 'json')
  return { code, stderr, value: stdout === '' ? undefined : JSON.parse(stdout) }
}

describe('salt-cp', () => {
  test('copies texts under their names into a folder, or a single text to a path', async () => {
    await writeFile(at('one'), 'Grüße\n')
    await writeFile(at('two'), '')
    await mkdir(at('into'))
    const into = { [at('into', 'one')]: true, [at('into', 'two')]: true }
    expect(await copy('*', at('one'), at('two'), at('into'))).toMatchObject({
      code: 0,
      value: { web1: into, web2: into },
    })
    expect(await readFile(at('into', 'one'), 'utf8')).toBe('Grüße\n')
    expect(await copy('-L', 'web1', at('one'), at('copied'))).toMatchObject({
      code: 0,
      value: { web1: { [at('copied')]: true } },
    })
    expect(await readFile(at('copied'), 'utf8')).toBe('Grüße\n')
  })

  test.each([[[]], [['-n']]])(
    'copies folders in pieces, with modes, whatever is in the files: -C %j',
    async (more) => {
      const name = `tree${more.length}`
      const bytes = randomBytes(3500)
      await mkdir(at(name, 'deep', 'empty'), { recursive: true })
      await writeFile(at(name, 'large'), bytes)
      await writeFile(at(name, 'deep', 'small'), 'x', { mode: 0o640 })
      await writeFile(at(name, 'deep', 'none'), '')
      await symlink('small', at(name, 'deep', 'link'))
      const dest = at(`${name}-copied`)
      const { code, value } = await copy('-C', ...more, 'web1', at(name), `${dest}/`)
      const paths = ['deep/link', 'deep/none', 'deep/small', 'large', 'deep/empty']
      expect(value).toEqual({ web1: Object.fromEntries(paths.map((path) => [join(dest, name, path), true])) })
      expect(code).toBe(0)
      expect(await readFile(join(dest, name, 'large'))).toEqual(bytes)
      expect(await readFile(join(dest, name, 'deep', 'link'), 'utf8')).toBe('x')
      expect((await stat(join(dest, name, 'deep', 'small'))).mode & 0o777).toBe(0o640)
      expect((await stat(join(dest, name, 'deep', 'none'))).size).toBe(0)
      expect((await stat(join(dest, name, 'deep', 'empty'))).isDirectory()).toBe(true)
    },
  )

  test('has exit code 1 and the reason of the minion where a file cannot be written', async () => {
    await writeFile(at('file'), 'x')
    const { code, value } = await copy('-C', 'web1', at('file'), at('file', 'below'))
    expect({ code, value }).toEqual({
      code: 1,
      value: { web1: { [at('file', 'below')]: expect.any(String) } },
    })
    expect(await copy('web1', at('file'), at('no', 'folder'))).toMatchObject({
      code: 1,
      value: { web1: 'Destination unavailable' },
    })
  })

  test('lists minions that do not return, sends them no more pieces, and has exit code 75', async () => {
    await writeFile(at('long'), 'y'.repeat(2500))
    const away = cluster.minions.get('web2')!
    await away.stop()
    const { code, value } = await copy('-C', '-n', '*', at('long'), at('long-copied'))
    expect(value).toEqual({
      web1: { [at('long-copied')]: true },
      web2: expect.stringMatching(/^Minion did not return/),
    })
    expect(code).toBe(75)
    expect(await readFile(at('long-copied'), 'utf8')).toBe('y'.repeat(2500))
    away.start()
    await away.logged('is ready to receive jobs')
  })

  test.each([
    ['web1 FOLDER/nothing /x', 1, 'ERROR: FOLDER/nothing does not exist.'],
    ['web1 FOLDER /x', 64, 'FOLDER is a folder, and only files can be copied without --chunked (-C).'],
    ['web1 FOLDER/binary /x', 1, 'FOLDER/binary is not text in UTF-8; use --chunked (-C) to copy any file.'],
    ['-C web1 /dev/null /x', 1, '/dev/null is neither a file nor a folder; leave it out.'],
    ['-C web1 FOLDER/loop /x', 1, 'is a link to a folder that it is in; leave it out.'],
    ['web1 FOLDER/one', 64, 'Name a target, the files to copy, and where they go.'],
    ['db* FOLDER/one /x', 2, 'No minions match'],
  ])('refuses with a sentence: %s', async (words, code, sentence) => {
    await writeFile(at('one'), 'x')
    await writeFile(at('binary'), Buffer.from([0xff, 0xfe, 0]))
    await mkdir(at('loop'), { recursive: true })
    await symlink('.', at('loop', 'self')).catch(() => {})
    const result = await copy(...words.replaceAll('FOLDER', folder).split(' '))
    expect(result.stderr).toContain(sentence.replaceAll('FOLDER', folder))
    expect(result.code).toBe(code)
  })
})
