/** Documentation of minions is untrusted text: a page contains none of its tags, scripts or images. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeHtml, html } from '../../../../core/cli/docs-site/html.ts'
import { markdownToHtml } from '../../../../core/cli/docs-site/markdown.ts'

const OWN_TAGS = new Set(
  'a blockquote br code del div em h1 h2 h3 h4 h5 h6 hr input li ol p pre strong table tbody td th thead tr ul'.split(
    ' ',
  ),
)
const OWN_ATTRIBUTES = new Set(['aria-label', 'checked', 'class', 'disabled', 'href', 'id', 'start', 'type'])

/** Return what is wrong with a text of HTML: all that begins with `<` must be a tag that this program writes. */
function problemsOf(text: string): string[] {
  return [...text.matchAll(/<([^>]*)(>?)/g)].flatMap(([whole, inside = '', end]) => {
    const tag = /^\/?([a-z]+\d?)((?:\s+[a-z-]+="[^"<>]*")*)\s*$/.exec(inside)
    if (!tag || end === '' || !OWN_TAGS.has(tag[1]!)) return [whole]
    return [...tag[2]!.matchAll(/([a-z-]+)="([^"]*)"/g)].flatMap(([attribute, name = '', value = '']) =>
      OWN_ATTRIBUTES.has(name) && (name !== 'href' || isHarmless(value)) ? [] : [attribute],
    )
  })
}

/** Whether a browser that parses the link loads a page, opens a mail, or can do nothing with it. */
function isHarmless(href: string): boolean {
  const marks: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  const target = href.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => marks[name]!)
  const page = 'https://docs.example.com/page.html'
  return (
    !URL.canParse(target, page) || ['https:', 'http:', 'mailto:'].includes(new URL(target, page).protocol)
  )
}

const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<pre><img src=x onerror=alert(1)\n',
  '<pre>\n<svg onload=alert(1)//\n</pre>',
  '<a href="javascript:alert(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1) "title")',
  '[x](java\tscript:alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:x)',
  '<javascript:alert(1)>',
  '[x]: javascript:alert(1)\n\n[x]',
  '![x](https://evil.example.com/seen.png)',
  '![x](javascript:alert(1))',
  '![" onerror="alert(1)](x)',
  '[a](<x" onclick="alert(1)>)',
  '`<b>`` <script>',
  '```"><script>alert(1)</script>\ncode\n```',
  '# <img src=x onerror=alert(1)>',
  '# " onclick="alert(1)',
  '| <b> | "x |\n| --- | --- |\n| <script>alert(1)</script> | `<i>` |',
  '<!-- --><script>alert(1)</script>',
  '<![CDATA[<script>]]>',
  '&lt;script&gt; &#60;script&#62;',
  '[x]:=<a>b</a><javascript:alert(1)>\n\n[x]',
  '- [ ] <input autofocus onfocus=alert(1)>',
]

describe('hostile text', () => {
  test.each(HOSTILE)('%j has no effect', (text) => {
    expect(problemsOf(markdownToHtml(text).text)).toEqual([])
  })

  test('has no effect in any combination', () => {
    const part = fc.oneof(
      fc.constantFrom(...HOSTILE),
      fc.constantFrom('\n', '    ', '> ', '"', '`', '<', ']('),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        expect(problemsOf(markdownToHtml(parts.join('')).text)).toEqual([])
      }),
    )
  })

  test('in a template is escaped, too', () => {
    const name = `"><script>alert('1')</script>\u202e`
    expect(html`<a id="${name}">${name}</a>`.text).toBe(
      `<a id="${escapeHtml(name)}">&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;</a>`,
    )
  })
})

describe('Markdown', () => {
  test('has headings with anchors, and examples as code', () => {
    const { text } = markdownToHtml(
      "# The `pkg` module\n\nSay <hello>.\n\nCLI Example:\n\n    salt '*' test.ping\n\n# The pkg module",
    )
    expect(text).toContain(
      '<h1 id="the-pkg-module">The <code>pkg</code> module <a class="anchor" href="#the-pkg-module"',
    )
    expect(text).toContain('<h1 id="the-pkg-module-1">')
    expect(text).toContain('Say &lt;hello&gt;.')
    expect(text).toContain('<pre><code>salt &#39;*&#39; test.ping')
  })

  test('of the project may show images, and lead to pages of the site', () => {
    const link = (target: string) => target.replace(/\.md/, '.html')
    const { text } = markdownToHtml('[Limits](limits.md#sizes) ![Lines](soak.svg)', { link, images: true })
    expect(text).toContain('<a href="limits.html#sizes">Limits</a>')
    expect(text).toContain('<img src="soak.svg" alt="Lines">')
  })
})
