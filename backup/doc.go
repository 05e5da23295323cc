// Package backup reads and writes backup files.
//
// A file starts with a line that names the format. Frames follow, each with its type,
// its length, its content, and a checksum (CRC-32C) of the whole file so far: a
// changed byte and a missing or misplaced frame are found where they are. The last
// frame says that nothing is missing.
//
// What streams are, and their order, is package jetstream's business.
package backup
