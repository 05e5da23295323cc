package journal

import "sluice/jetstream/stream"

// Streams names the streams of the journal: those that tell of events, and the one
// that tells of the rest.
func Streams() (ofEvents []string, rest string) {
	return []string{stream.Journal, stream.Index}, stream.Loose
}
