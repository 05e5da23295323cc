// Package backup is the file that a backup is: what it begins with, the streams in
// it, where it ends, and the checksums by which damage is found.
//
// A file begins with a line that names the format. Frames follow, each with its
// kind, its length, its content, and a checksum (CRC-32C) over all of the file up to
// there: so a byte that has changed, and a frame that is missing or out of place,
// is found where it is. The last frame says that nothing is missing.
//
// What streams are, and in which order they must be, is package jetstream's
// business. The key that opens the records is in a file only under a passphrase
// (key.go).
package backup
