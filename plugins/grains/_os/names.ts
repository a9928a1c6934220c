/** Salt's name of a system (`os`) by the first ten letters of its full name, in lower case, without spaces and "Linux". */
const osByShortName = new Map([
  ['redhatente', 'RedHat'],
  ['gentoobase', 'Gentoo'],
  ['archarm', 'Arch ARM'],
  ['arch', 'Arch'],
  ['debian', 'Debian'],
  ['raspbian', 'Raspbian'],
  ['fedoraremi', 'Fedora'],
  ['chapeau', 'Chapeau'],
  ['korora', 'Korora'],
  ['amazonami', 'Amazon'],
  ['alt', 'ALT'],
  ['enterprise', 'OEL'],
  ['oracleserv', 'OEL'],
  ['cloudserve', 'CloudLinux'],
  ['cloudlinux', 'CloudLinux'],
  ['almalinux', 'AlmaLinux'],
  ['pidora', 'Fedora'],
  ['scientific', 'ScientificLinux'],
  ['synology', 'Synology'],
  ['nilrt', 'NILinuxRT'],
  ['poky', 'Poky'],
  ['manjaro', 'Manjaro'],
  ['manjarolin', 'Manjaro'],
  ['univention', 'Univention'],
  ['antergos', 'Antergos'],
  ['sles', 'SUSE'],
  ['slesexpand', 'RES'],
  ['void', 'Void'],
  ['linuxmint', 'Mint'],
  ['neon', 'KDE neon'],
  ['pop', 'Pop'],
  ['rocky', 'Rocky'],
  ['alibabaclo', 'Alinux'],
  ['mendel', 'Mendel'],
])

const osByIdAndName = new Map([
  ['astra/Astra Linux (Orel)', 'AstraLinuxCE'],
  ['astra/Astra Linux (Smolensk)', 'AstraLinuxSE'],
  ['pop/Pop!_OS', 'Pop'],
])

const members: Readonly<Record<string, string>> = {
  Debian:
    'Ubuntu,Mint,Trisquel,GCEL,Linaro,elementary OS,elementary,Univention,Raspbian,Devuan,antiX,Kali,Parrot OS,neon,Cumulus,Deepin,KDE neon,IDMS,TurnKey,Pop,AstraLinuxCE,AstraLinuxSE,Mendel,OSMC',
  RedHat:
    'Fedora,Chapeau,Korora,FedBerry,CentOS,CentOS Stream,GoOSe,Scientific,ScientificLinux,Amazon,CloudLinux,AlmaLinux,OVS,OEL,XCP,XCP-ng,XenServer,RES,Sangoma,VMware Photon OS,ALT,Rocky,Alinux',
  Suse: 'SLES,SUSE Enterprise Server,SLED,openSUSE,SUSE,openSUSE Leap,openSUSE Tumbleweed,SLES_SAP',
  Arch: 'Arch ARM,Manjaro,Manjaro ARM,Antergos,EndeavourOS',
  Gentoo: 'Funtoo',
  Mandriva: 'Mandrake',
}
const familyByOs = new Map(
  Object.entries(members).flatMap(([family, list]) => list.split(',').map((os) => [os, family] as const)),
)

/** The `os` grain for the NAME and ID of os-release. */
export function osName(fullName: string, id: string): string {
  const name = fullName.replace(/\W(?:gnu\/)?linux/gi, '').trim()
  const short = name.replaceAll(' ', '').toLowerCase().slice(0, 10)
  return osByIdAndName.get(`${id}/${fullName}`) ?? osByShortName.get(short) ?? name
}

/** Return the `os_family` grain for an `os`; for an unknown one, the family in ID_LIKE of os-release. */
export function osFamily(os: string, idLike: string): string {
  const known = familyByOs.get(os)
  if (known) return known
  const ids = idLike.split(/\s+/)
  if (ids.includes('debian') || ids.includes('ubuntu')) return 'Debian'
  if (ids.includes('fedora') || ids.includes('rhel')) return 'RedHat'
  if (ids.includes('suse') || ids.includes('opensuse')) return 'Suse'
  return ids.includes('arch') ? 'Arch' : os
}
