import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { manPage } from '../../../../core/cli/program/man.ts'
import { programs } from '../../../../core/cli/programs.ts'
import manifest from '../../../../package.json' with { type: 'json' }

/** Return groff's complaints about a page; none without groff. */
function complaints(page: string): string {
  const { error, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z'], {
    input: page,
    encoding: 'utf8',
  })
  return error ? '' : stderr
}

test.each(programs.map((program) => [program.id, program] as const))(
  'the man page of %s names every option and is rendered without a warning',
  (id, program) => {
    const page = manPage(program)
    for (const flag of Object.keys(program.flags ?? {}))
      expect(page.replaceAll('\\-', '-')).toMatch(new RegExp(`^\\.B .*--${flag}\\b`, 'm'))
    expect(complaints(page)).toBe('')
    expect(manifest.man).toContain(`dist/man/${id}.1`)
  },
)
