package journal

import (
	"hash/crc32"
	"strconv"

	"sluice"
	"sluice/jetstream/stream"
)

const (
	failedPrefix = stream.ChunkPrefix + "failed." // before the number of a block of the index

	chunkEvents = 64 // events whose lines share a subject
	slots       = 64 // subjects for what belongs to no event
)

// chunkSubject returns the subject of the chunk that an event belongs to.
func chunkSubject(sequence uint64) string {
	return stream.ChunkPrefix + strconv.FormatUint(sequence/chunkEvents, 10)
}

// failedSubject returns the subject of the list of failed events in the same
// block of the index.
func failedSubject(sequence uint64) string {
	return failedPrefix + strconv.FormatUint(sequence/indexed, 10)
}

// looseSubject returns the subject of what belongs to no event.
func looseSubject(traceID string) string {
	slot := crc32.ChecksumIEEE([]byte(sluice.TraceOwner(traceID))) % slots
	return stream.LoosePrefix + strconv.FormatUint(uint64(slot), 10)
}
