// Package limit bounds what strangers and users may take: the pace and memory of bodies,
// connections, tries, the length of credentials, and the size of caches. It knows keys, sizes
// and times, not what they stand for.
package limit
