/** The YAML styles in which a YAML 1.1 reader reads a text back unchanged. */

/** Plain texts that a reader would read as null, boolean, number, date, merge key and so on. */
const TAKEN_FOR_OTHER = [
  /^(?:~|null|Null|NULL|<<|=|!|&|\*|)$/,
  /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
  /^[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)$/,
  /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|\.(?:inf|Inf|INF))$/,
  /^(?:\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|\.(?:nan|NaN|NAN))$/,
  /^\d{4}-\d\d-\d\d$/,
  /^\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?$/,
]
const BREAKS = '\n\x85\u2028\u2029'
const SPACES = ` \t\r\0${BREAKS}`

export interface Styles {
  readonly multiline: boolean
  readonly plainInBlock: boolean
  readonly plainInFlow: boolean
  readonly single: boolean
}

/** With `ascii` a text that has other characters needs escapes. */
export function stylesOf(text: string, ascii = false): Styles {
  const { special, spaceBeforeBreak, breakBeforeSpace, multiline } = charactersOf(text, ascii)
  const edges = /^[ \n\x85\u2028\u2029]|[ \n\x85\u2028\u2029]$/.test(text)
  const single = !special && !spaceBeforeBreak && !breakBeforeSpace
  const plain = single && !multiline && !edges && !TAKEN_FOR_OTHER.some((pattern) => pattern.test(text))
  const indicators = indicatorsOf(text)
  return {
    multiline,
    plainInBlock: plain && !indicators.block,
    plainInFlow: plain && !indicators.flow,
    single,
  }
}

function charactersOf(text: string, ascii: boolean) {
  return {
    special: [...text].some((character) => !isPrintable(character, ascii)),
    multiline: /[\r\n\x85\u2028\u2029]/.test(text),
    spaceBeforeBreak: / [\n\x85\u2028\u2029]/.test(text),
    breakBeforeSpace: /[\n\x85\u2028\u2029] /.test(text),
  }
}

/** Whether LibYAML writes a character unescaped. It escapes all characters beyond the Basic Multilingual Plane. */
export function isPrintable(character: string, ascii: boolean): boolean {
  const code = character.codePointAt(0) as number
  if (code === 0x0a || (code >= 0x20 && code <= 0x7e)) return true
  if (ascii) return false
  return (code >= 0xa0 && code <= 0xd7ff) || (code >= 0xe000 && code <= 0xfffd && code !== 0xfeff)
}

/** Whether the text has characters with a special meaning at their place, in block and in flow style. */
function indicatorsOf(text: string): { block: boolean; flow: boolean } {
  let block = text.startsWith('---') || text.startsWith('...')
  let flow = block
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    const blankAfter = at + 1 >= text.length || SPACES.includes(text[at + 1] as string)
    const blankBefore = at === 0 || SPACES.includes(text[at - 1] as string)
    const both = at === 0 ? startsNode(character, blankAfter) : character === '#' && blankBefore
    block ||= both || (blankAfter && (character === ':' || (at === 0 && character === '?')))
    flow ||= both || ',?[]{}:'.includes(character)
  }
  return { block, flow }
}

function startsNode(character: string, blankAfter: boolean): boolean {
  return '#,[]{}&*!|>\'"%@`'.includes(character) || (character === '-' && blankAfter)
}
