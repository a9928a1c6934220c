import { TEST_HEAD, type Template } from './template.ts'

export const template: Template = {
  source: (
    name,
  ) => `/** What ${name} helps with, in a sentence. Extensions import it from '#utils/${name}.ts'. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

/** Format a number of bytes with one decimal: 1536 is \`1.5 KiB\`. */
export function size(bytes: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1)
  return \`\${Number((bytes / 1024 ** power).toFixed(1))} \${UNITS[power]}\`
}
`,
  test: (name) => `${TEST_HEAD}import { size } from './${name}.ts'

test('formats sizes in the unit that suits them', () => {
  assert.equal(size(0), '0 B')
  assert.equal(size(1536), '1.5 KiB')
  assert.equal(size(3 * 1024 ** 3), '3 GiB')
})
`,
  tryOut: (name) => `import { size } from '#utils/${name}.ts'  // in a module or another extension`,
}
