import { describe, expect, test } from 'vitest'
import {
  bindNameFor,
  comparedWith,
  filterFor,
  firstValue,
  inFilter,
  inName,
  isTemplate,
} from '../../../../plugins/auth/_ldap-text.ts'

describe('texts of LDAP', () => {
  test('escapes in filters all special and all non-ASCII characters', () => {
    expect(inFilter('a*(b)\\c\0d/ü')).toBe('a\\2a\\28b\\29\\5cc\\00d\\2f\\c3\\bc')
    expect(filterFor('uid={{username}}', '*)(uid=*')).toBe('(uid=\\2a\\29\\28uid\\3d\\2a)')
    expect(filterFor('(|(uid={{ username }})(mail={{ username }}))', 'ada')).toBe('(|(uid=ada)(mail=ada))')
  })

  test('escapes in distinguished names all special characters', () => {
    expect(inName(' a,b+c"d\\e<f>g;h=i#j ')).toBe('\\ a\\,b\\+c\\"d\\\\e\\<f\\>g\\;h\\=i\\#j\\ ')
    expect(bindNameFor('uid={{ username }},dc=example', 'fred,ou=x')).toBe('uid=fred\\,ou\\=x,dc=example')
  })

  test('inserts only plain names where nothing can be escaped', () => {
    expect(bindNameFor('{{ username }}@example.com', 'fred')).toBe('fred@example.com')
    for (const name of ['fred@other.com', 'a\\b', 'x y', 'a=b', ''])
      expect(bindNameFor('CORP\\{{ username }}', name)).toBeUndefined()
    expect(bindNameFor('svc@example.com', 'a=b')).toBe('svc@example.com')
  })

  test('inserts a name with $ in it unchanged', () => {
    expect(filterFor('(uid={{ username }})', "$&$'")).toBe('(uid=\\24\\26\\24\\27)')
    expect(bindNameFor('uid={{ username }},dc=x', '$&')).toBe('uid=$&,dc=x')
  })

  test('reads the first value of a distinguished name', () => {
    expect(firstValue('cn=web admins,ou=Groups,dc=x')).toBe('web admins')
    expect(firstValue('CN = a\\, b\\2c c\\c3\\bc,dc=x')).toBe('a, b, cü')
    expect(firstValue('no name')).toBeUndefined()
  })

  test('finds the attributes that a filter compares with the name, and reports filters it cannot read', () => {
    expect(comparedWith('(&(uid={{ username }})(|(mail={{username}})(cn={{ username }}*)))')).toEqual([
      'uid',
      'mail',
    ])
    expect(comparedWith('uid={{ username }},dc=x')).toEqual(['uid'])
    expect(isTemplate('uid={{ username }}')).toBe(true)
    for (const text of ['{{ username.upper() }}', '{% if x %}', '{# #}']) expect(isTemplate(text)).toBe(false)
  })
})
